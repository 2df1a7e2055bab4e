package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// sampling compares a sample of a real API server with a client that only drains the
// same answers, with the same concurrency.
func sampling(t *testing.T, b book) {
	deployments := scaled(10_000)
	cp := controlplane.Start(t, controlplane.Options{ControllerManagerFlags: []string{
		// The objects of a rollout are written by hand, and must not change.
		"--controllers=*,-deployment-controller,-replicaset-controller,-horizontal-pod-autoscaler-controller",
	}})
	fill(t, cp, deployments, deployments/20)

	var ours, theirs tally
	config := cp.Config()
	config.Wrap(ours.count)
	sampler, err := kube.New(config, kube.Options{Site: "prod", Clock: time.Now})
	must(t, err)
	bare := cp.Config()
	bare.Wrap(theirs.count)
	client, err := rest.HTTPClientFor(bare)
	must(t, err)

	costs := turns(t, 9, func() {
		fleet, err := sampler.Sample(t.Context(), nil)
		if err != nil || len(fleet.Samples) != deployments || len(fleet.Unread) > 0 {
			t.Fatalf("%d samples, unread %q: %v", len(fleet.Samples), fleet.Unread, err)
		}
	}, func() { must(t, drained(t.Context(), client, bare.Host, "/apis/apps/v1/replicasets")) })
	if ours.requests.Load() != theirs.requests.Load() || ours.bytes.Load() != theirs.bytes.Load() {
		t.Fatalf("%d requests and %d bytes beside %d and %d: that is not the same", ours.requests.Load(), ours.bytes.Load(), theirs.requests.Load(), theirs.bytes.Load())
	}
	t.Logf("%d MB in %d requests a look", ours.bytes.Load()/10/1e6, ours.requests.Load()/10)
	b.beside("sample_ratio_10k", ratio(costs[0].clock, costs[1].clock), seconds(costs[0].clock), seconds(costs[1].clock))
	b.beside("sample_cpu_ratio_10k", ratio(costs[0].cpu, costs[1].cpu), seconds(costs[0].cpu), seconds(costs[1].cpu))
}

// A tally counts requests, and the bytes of their answers.
type tally struct{ requests, bytes atomic.Int64 }

func (c *tally) count(next http.RoundTripper) http.RoundTripper {
	return trip(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil {
			c.requests.Add(1)
			answer.Body = counted{answer.Body, &c.bytes}
		}
		return answer, err
	})
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type counted struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

// drained sends the requests of a sample and discards the answers. It lists after last.
func drained(ctx context.Context, client *http.Client, server string, after ...string) error {
	for _, phase := range [][]string{
		{"/api/v1/namespaces/kube-system"}, {"/apis/flagger.app/v1beta1/canaries"},
		{"/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets", "/apis/argoproj.io/v1alpha1/rollouts",
			"/apis/autoscaling/v2/horizontalpodautoscalers", "/apis/keda.sh/v1alpha1/scaledobjects"}, after,
	} {
		var side sync.WaitGroup
		problems := make([]error, len(phase))
		for i, path := range phase {
			side.Go(func() { problems[i] = drain(ctx, client, server+path) })
		}
		side.Wait()
		if err := errors.Join(problems...); err != nil {
			return err
		}
	}
	return nil
}

// drain goes through the pages of one list.
func drain(ctx context.Context, client *http.Client, url string) error {
	for token := ""; ; {
		query := "?limit=" + strconv.Itoa(pageSize)
		if token != "" {
			query += "&continue=" + token
		}
		if strings.Contains(url, "/namespaces/") {
			query = ""
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+query, nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", "application/vnd.kubernetes.protobuf,application/json")
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		head, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
		if token = next(head); answer.StatusCode != http.StatusOK || token == "" {
			return nil
		}
	}
}

// next returns the continue token in the first bytes of a list: field 3 of the list's
// metadata, which is field 1 of the list. The list is field 2 of its envelope.
func next(head []byte) string {
	for _, number := range []protowire.Number{2, 1, 3} {
		head = bytes.TrimPrefix(head, []byte("k8s\x00"))
		for {
			at, kind, n := protowire.ConsumeTag(head)
			if n < 0 || kind != protowire.BytesType {
				return ""
			}
			size, m := protowire.ConsumeVarint(head[n:])
			if m < 0 {
				return ""
			}
			head = head[n+m:]
			if at == number {
				head = head[:min(size, uint64(len(head)))]
				break
			}
			head = head[min(size, uint64(len(head))):]
		}
	}
	return string(head)
}

// fill makes a fleet of Deployments, an HPA for every second and a ReplicaSet for each,
// and puts some of them in flight.
func fill(t *testing.T, cp *controlplane.ControlPlane, deployments, flying int) {
	t.Helper()
	config := cp.Config()
	client, err := rest.HTTPClientFor(config)
	must(t, err)
	for i := range namespaces {
		must(t, write(t.Context(), client, http.MethodPost, config.Host+"/api/v1/namespaces", map[string]any{"metadata": map[string]string{"name": fmt.Sprintf("team-%d", i)}}, nil))
	}
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(16)
	for i := range deployments {
		group.Go(func() error {
			in := config.Host + "/apis/%s/namespaces/" + metaOf(i).Namespace
			apps, autoscaling := fmt.Sprintf(in, "apps/v1"), fmt.Sprintf(in, "autoscaling/v2")
			both := func(folder string, o runtime.Object) (types.UID, error) {
				var made struct{ Metadata struct{ UID types.UID } }
				if err := write(t.Context(), client, http.MethodPost, folder, o, &made); err != nil {
					return "", err
				}
				return made.Metadata.UID, write(t.Context(), client, http.MethodPut, folder+"/"+name(i)+"/status", o, nil)
			}
			uid, err := both(apps+"/deployments", deployment(i, i < flying))
			if err == nil && i%2 == 0 {
				_, err = both(autoscaling+"/horizontalpodautoscalers", autoscaler(i))
			}
			if err == nil && i < flying {
				err = write(t.Context(), client, http.MethodPost, apps+"/replicasets", replicaSet(i, 0, uid), nil)
			}
			if err == nil {
				err = write(t.Context(), client, http.MethodPost, apps+"/replicasets", replicaSet(i, 1, uid), nil)
			}
			return err
		})
	}
	must(t, group.Wait())
	t.Logf("%d Deployments made in %s", deployments, time.Since(began).Round(time.Second))
}

// write sends an object, and decodes the answer.
func write(ctx context.Context, client *http.Client, method, url string, o, into any) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "helm")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s %s: %d: %s", method, url, answer.StatusCode, said)
	case into == nil:
		return nil
	}
	return json.Unmarshal(said, into)
}
