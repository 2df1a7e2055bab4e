package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"

// states measures the size of the state and the cost of a tick of a large site.
func states(t *testing.T, b book) {
	large := worldOf(scaled(50_000))
	large.ticks(t, 3)
	for id, s := range large.Fleet {
		scale := *s.Scale
		scale.Desired, scale.Ready = scale.Desired/3, scale.Ready/3
		s.Scale = &scale
		large.Fleet[id] = s
	}
	if report := large.ticks(t, 2); report.Stop.Reason != policy.ReasonMassDrop {
		t.Fatalf("the tick stops lowering because of %q, want a mass drop", report.Stop.Reason)
	}
	head, _, err := large.State()
	must(t, err)
	stored, err := latch.Encode(head)
	must(t, err)
	b.alone("head_kib_50k", float64(len(stored))/1024)
	growth(t, b)
	firstTick(t, b)
}

// growth compares the cost of a quiet tick per workload.
func growth(t *testing.T, b book) {
	sizes := []int{scaled(50_000), scaled(1000)}
	var runs []func()
	allocated := make([]uint64, len(sizes))
	for i, n := range sizes {
		w := worldOf(n)
		w.ticks(t, 3)
		runs = append(runs, func() {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w.ticks(t, sizes[0]/n) // the same number of workloads in total
			runtime.ReadMemStats(&after)
			allocated[i] = after.TotalAlloc - before.TotalAlloc
		})
	}
	costs := turns(t, 5, runs...)
	each := func(d time.Duration) string {
		return fmt.Sprintf("%.3g µs a workload", float64(d.Microseconds())/float64(sizes[0]))
	}
	b.beside("growth_1k_50k", max(ratio(costs[0].clock, costs[1].clock), float64(allocated[0])/float64(allocated[1])), each(costs[0].clock), each(costs[1].clock))
}

// A world is a story's world in memory.
type world struct{ *story.World }

// worldOf returns a site of n workloads, with realistic names and sizes.
func worldOf(n int) world {
	w := world{story.NewWorld(map[string]string{"gitlatch.yaml": latching})}
	for _, s := range samples(n) {
		w.Fleet[s.ID] = s
	}
	return w
}

func samples(n int) (all []workload.Sample) {
	for i := range n {
		pods := int32(3 + i%97)
		all = append(all, workload.Sample{
			ID:      workload.ID{Namespace: fmt.Sprintf("team-%d", i%namespaces), Kind: workload.Deployment, Name: name(i)},
			Rollout: &workload.Rollout{Desired: pods}, Scale: &workload.Scale{Desired: pods, Ready: pods, Driver: workload.DrivenByHPA, Min: 1, Max: 500},
		})
	}
	return all
}

// ticks runs n ticks, and returns the last report.
func (w world) ticks(t testing.TB, n int) (report tick.Report) {
	t.Helper()
	for range n {
		var err error
		report, err = w.Tick()
		must(t, errors.Join(err, report.Err()))
		w.Now = w.Now.Add(story.Period)
	}
	return report
}

// firstTick compares the ticks up to a site's first commit with a repetition of their
// requests. The turn that does not count records the requests.
func firstTick(t *testing.T, b book) {
	tables, server := dynalite.Start(t), gitserver.Start(t)
	fleet := samples(scaled(10_000))
	var sent recorder
	n := 0
	costs := turns(t, 5, func() {
		if n++; n == 1 {
			sent.table = latchFirst(t, tables, server, "ours-1", fleet, &sent)
		} else {
			latchFirst(t, tables, server, fmt.Sprint("ours-", n), fleet, http.DefaultTransport)
		}
	}, func() {
		server.Create(t, fmt.Sprint("bare-", n), map[string]string{"gitlatch.yaml": latching})
		table := tables.Table(t, "pk", "sk")
		must(t, sent.again(t.Context(), func(r *http.Request, body []byte) ([]byte, string) {
			return bytes.ReplaceAll(body, []byte(sent.table), []byte(table)), strings.Replace(r.URL.String(), "ours-1", fmt.Sprint("bare-", n), 1)
		}))
	})
	b.beside("first_tick_10k", ratio(costs[0].clock, costs[1].clock), seconds(costs[0].clock), seconds(costs[1].clock))
}

// latchFirst ticks until a site's first commit, and returns the table of its state.
func latchFirst(t *testing.T, tables *dynalite.Server, server *gitserver.Server, name string, fleet []workload.Sample, through http.RoundTripper) (table string) {
	t.Helper()
	server.Create(t, name, map[string]string{"gitlatch.yaml": latching})
	repository, err := gitwire.Open(gitwire.Options{URL: server.URL(name), Branch: "main", Transport: through})
	must(t, err)
	table = tables.Table(t, "pk", "sk")
	store := dynamo.Open(dynamo.Options{Table: table, Client: tables.Client(func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: through} })})
	for now, runs := story.Morning, 0; ; now, runs = now.Add(story.Period), runs+1 {
		report, err := (&tick.Tick{
			Site: "prod", Owner: fmt.Sprint("run-", runs), Period: story.Period, Lease: story.Period - time.Minute,
			Sampler: seen{fleet, now}, Store: store, Repository: repository, Clock: func() time.Time { return now },
			PolicyFile: "gitlatch.yaml",
			ParsePolicy: func(file string, data []byte) (policy.Set, error) {
				return config.ParsePolicy(file, data, story.Period)
			},
		}).Run(t.Context())
		must(t, errors.Join(err, report.Err()))
		if report.Commit != nil {
			return table
		}
		if runs == 3 {
			t.Fatal("nothing was committed")
		}
	}
}

// seen returns a sample at an instant.
type seen struct {
	fleet []workload.Sample
	at    time.Time
}

func (s seen) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	return workload.Fleet{Site: "prod", Cluster: "5e0c1d2f", At: s.at, Samples: s.fleet}, nil
}

// A recorder is a transport that records the writes and pushes, and their maximum
// concurrency.
type recorder struct {
	mu        sync.Mutex
	table     string
	all       []recorded
	now, most int
}

type recorded struct {
	*http.Request
	body []byte
}

func (c *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	operation := r.Header.Get("X-Amz-Target")
	writes := strings.HasSuffix(operation, "UpdateItem") || strings.HasSuffix(r.URL.Path, "git-receive-pack")
	if writes {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.mu.Lock()
		c.all = append(c.all, recorded{r, body})
		c.now++
		c.most = max(c.most, c.now)
		c.mu.Unlock()
		defer func() { c.mu.Lock(); c.now--; c.mu.Unlock() }()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// again sends the recorded requests again, with the same concurrency. Their order may
// change, so a condition on the lease may fail. Few requests write the lease, so few
// fail.
func (c *recorder) again(ctx context.Context, change func(*http.Request, []byte) ([]byte, string)) error {
	queue := make(chan recorded)
	problems := make([]error, max(1, c.most))
	var senders sync.WaitGroup
	var refused atomic.Int32
	for i := range problems {
		senders.Go(func() {
			for one := range queue {
				body, url := change(one.Request, one.body)
				r, err := http.NewRequestWithContext(ctx, one.Method, url, bytes.NewReader(body))
				if err == nil {
					r.Header = one.Header.Clone()
					var answer *http.Response
					if answer, err = http.DefaultTransport.RoundTrip(r); err == nil {
						_, err = io.Copy(io.Discard, answer.Body)
						err = errors.Join(err, answer.Body.Close())
						if answer.StatusCode != http.StatusOK {
							refused.Add(1)
						}
					}
				}
				problems[i] = errors.Join(problems[i], err)
			}
		})
	}
	for _, one := range c.all {
		queue <- one
	}
	close(queue)
	senders.Wait()
	if n := int(refused.Load()); n > 5+len(c.all)/100 {
		return fmt.Errorf("%d of %d writes were refused", n, len(c.all))
	}
	return errors.Join(problems...)
}
