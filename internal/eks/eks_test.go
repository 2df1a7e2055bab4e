package eks_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/eks"
	stand "github.com/gitlatch/gitlatch/internal/testenv/eks"
)

const (
	account = "123456789012"
	latch   = "arn:aws:sts::" + account + ":assumed-role/latch/1"
)

// An endpoint answers like the API server of a cluster without workloads.
type endpoint struct {
	*httptest.Server

	mu     sync.Mutex
	refuse metav1.StatusReason // the reason of the refusal of every request; "" accepts them
	shown  []string            // the distinct tokens in the order of their first use
	dialed int
}

func serve(t *testing.T) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(e.answer))
	e.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if state == http.StateNew {
			e.dialed++
		}
	}
	e.EnableHTTP2 = true // like the API server of EKS: all requests share one connection
	e.StartTLS()
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) answer(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if token := r.Header.Get("Authorization"); !slices.Contains(e.shown, token) {
		e.shown = append(e.shown, token)
	}
	codes := map[metav1.StatusReason]int{metav1.StatusReasonUnauthorized: http.StatusUnauthorized, metav1.StatusReasonForbidden: http.StatusForbidden}
	kinds := map[string]string{
		"deployments": "DeploymentList", "statefulsets": "StatefulSetList", "daemonsets": "DaemonSetList",
		"horizontalpodautoscalers": "HorizontalPodAutoscalerList", "scaledobjects": "ScaledObjectList",
		"rollouts": "RolloutList", "canaries": "CanaryList",
	}
	w.Header().Set("Content-Type", "application/json")
	folder, resource := r.URL.Path[:strings.LastIndex(r.URL.Path, "/")], r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case e.refuse != "":
		w.WriteHeader(codes[e.refuse])
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: e.refuse, Code: int32(codes[e.refuse]), Message: "no"})
	case resource == "kube-system":
		_, _ = w.Write([]byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "uid-1"}}`))
	default:
		version := strings.TrimPrefix(folder, "/apis/")
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": version, "kind": kinds[resource], "metadata": map[string]any{}, "items": []any{}})
	}
}

// cluster returns the EKS description of the endpoint.
func (e *endpoint) cluster() stand.Cluster {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: e.Certificate().Raw})
	return stand.Cluster{Account: account, Endpoint: e.URL, CA: ca}
}

// A world is a cluster prod-eu and its description in AWS.
type world struct {
	aws      *stand.Server
	endpoint *endpoint
	now      time.Time
	key      aws.Credentials
	cluster  *eks.Cluster
}

func newWorld(t *testing.T, change func(*eks.Options)) *world {
	t.Helper()
	w := &world{aws: stand.Start(t), endpoint: serve(t), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	w.aws.Describe("prod-eu", w.endpoint.cluster())
	w.key = w.aws.Key(latch)
	o := eks.Options{Name: "prod-eu", Site: "prod-eu", Clock: func() time.Time { return w.now }}
	if change != nil {
		change(&o)
	}
	w.cluster = eks.New(w.aws.Config(w.key), o)
	return w
}

// sees fails the test unless a sample reads the cluster.
func (w *world) sees(t *testing.T) {
	t.Helper()
	fleet, err := w.cluster.Sample(t.Context(), nil)
	if err != nil || fleet.Cluster != "uid-1" || fleet.Site != "prod-eu" || len(fleet.Unread) > 0 {
		t.Fatalf("fleet %+v, error %v", fleet, err)
	}
}

// fails fails the test unless a sample returns an error with all given words and without
// secrets.
func (w *world) fails(t *testing.T, words ...string) error {
	t.Helper()
	_, err := w.cluster.Sample(t.Context(), nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range words {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	for _, secret := range []string{w.key.SecretAccessKey, w.key.SessionToken, "k8s-aws-v1.", "RequestID", "\n"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error %q tells %q", err, secret)
		}
	}
	return err
}

func TestAWarmLookAsksTheClusterAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for range 3 {
		w.sees(t)
		w.now = w.now.Add(5 * time.Minute)
	}
	if n := w.aws.Requested("eks:DescribeCluster"); n != 1 || w.endpoint.dialed != 1 {
		t.Errorf("described %d times, dialed %d times", n, w.endpoint.dialed)
	}
	if n := w.aws.Requested("sts:GetCallerIdentity"); n != 0 {
		t.Errorf("asked STS %d times", n)
	}
	w.now = w.now.Add(time.Hour)
	w.sees(t)
	if n := w.aws.Requested("eks:DescribeCluster"); n != 2 || w.endpoint.dialed != 1 {
		t.Errorf("an hour later: described %d times, dialed %d times", n, w.endpoint.dialed)
	}
}

// The levels are read with the connection of the samples. If AWS does not describe the
// cluster, each part is unknown, with the error.
func TestTheLevelsOfACluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.sees(t)
	l := w.cluster.ReadLevels(t.Context())
	if n := w.aws.Requested("eks:DescribeCluster"); n != 1 || w.endpoint.dialed != 1 {
		t.Errorf("described %d times, dialed %d times: %+v", n, w.endpoint.dialed, l)
	}
	w.now = w.now.Add(time.Hour)
	w.aws.Deny("eks:DescribeCluster")
	l = w.cluster.ReadLevels(t.Context())
	for _, why := range []string{l.Version.Why(), l.ConfigMaps.Why(), l.Bindings.Why()} {
		if !strings.Contains(why, "eks:DescribeCluster") {
			t.Errorf("the reason is %q", why)
		}
	}
}

// The token names the STS endpoint that the cluster calls, not an endpoint that is
// configured for this program.
func TestTheTokenIsARequestToSTSForTheCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *eks.Options) { o.Region = "eu-central-1" })
	w.sees(t)
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(w.endpoint.shown[0], "Bearer k8s-aws-v1."))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := url.Parse(string(text))
	if err != nil || signed.Scheme != "https" || signed.Host != "sts.eu-central-1.amazonaws.com" || signed.Query().Get("X-Amz-SignedHeaders") != "host;x-k8s-aws-id" {
		t.Errorf("token for %s, error %v", signed, err)
	}
}

func TestAnEndpointThatMovedIsFoundInTheSameLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.sees(t)
	other := serve(t)
	w.aws.Describe("prod-eu", other.cluster())
	w.sees(t)
	if len(other.shown) != 0 {
		t.Error("asked for a description that was still good")
	}
	w.endpoint.Close()
	w.sees(t)
	if len(other.shown) != 1 || w.aws.Requested("eks:DescribeCluster") != 2 {
		t.Errorf("tokens %d, described %d times", len(other.shown), w.aws.Requested("eks:DescribeCluster"))
	}
}
