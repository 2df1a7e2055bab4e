//go:build aws

package crowd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	period = 5 * time.Minute
	lease  = 4 * time.Minute
	// faster is the speed of the simulated time relative to real time. At this speed a
	// lease expires within three seconds.
	faster = 80
	// stalls: one of this number of saves waits until the lease has expired.
	stalls = 25
)

// jobKey is the environment variable with the job of a process.
const jobKey = "GITLATCH_CROWD_JOB"

// A job is the input of a process.
type job struct {
	Site, Owner string
	Git         string    // address of the repository
	Dynamo      string    // address of the table's server
	Table       string    // its name
	Cluster     string    // the file with the desired replicas of workloads
	Began       time.Time // the start of the faster clock
}

// An event is an action of a process, with its first and last instant.
type event struct {
	What     string // "acquired", "saved", or what went wrong
	Site     string
	Fence    int64
	From, To time.Time
}

// TestMain is also the main function of each ticking process.
func TestMain(m *testing.M) {
	text := os.Getenv(jobKey)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := work(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work ticks until the process is killed.
func work(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	repository, err := gitwire.Open(gitwire.Options{URL: j.Git, Branch: "main"})
	if err != nil {
		return err
	}
	server := dynalite.Server{URL: j.Dynamo}
	store := &witness{Store: dynamo.Open(dynamo.Options{Table: j.Table, Client: server.Client()}), say: json.NewEncoder(os.Stdout)}
	for n := 0; ; n++ {
		t := &tick.Tick{
			Site: j.Site, Owner: fmt.Sprint(j.Owner, "/", n), Period: period, Lease: lease,
			Sampler: j, Store: store, Repository: repository, Clock: j.now, PolicyFile: policyFile,
			ParsePolicy: func(file string, data []byte) (policy.Set, error) { return config.ParsePolicy(file, data, period) },
		}
		if r, err := t.Run(context.Background()); cmp.Or(err, r.Err()) != nil {
			if err := store.say.Encode(event{What: cmp.Or(err, r.Err()).Error()}); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
	}
}

func (j job) now() time.Time { return j.Began.Add(faster * time.Since(j.Began)).UTC() }

// Sample returns the desired replicas in the file.
func (j job) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	f := workload.Fleet{Site: j.Site, Cluster: "uid-" + j.Site, At: j.now()}
	text, err := os.ReadFile(j.Cluster)
	if err != nil {
		return f, err
	}
	needs := map[string][]int32{}
	if err := json.Unmarshal(text, &needs); err != nil {
		return f, err
	}
	for i, need := range needs[j.Site] {
		f.Samples = append(f.Samples, workload.Sample{ID: id(i), Rollout: &workload.Rollout{Desired: need}, Scale: &workload.Scale{
			Desired: need, Ready: need, Driver: workload.DrivenByHPA, Min: 1, Max: 20000,
		}})
	}
	slices.SortFunc(f.Samples, func(a, b workload.Sample) int { return workload.Compare(a.ID, b.ID) })
	return f, nil
}

func id(i int) workload.ID {
	return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprint("app-", i)}
}

// A witness reports the acquired leases, and the saves that they allowed. Sometimes it
// stalls.
type witness struct {
	latch.Store
	say *json.Encoder
}

func (w *witness) Acquire(ctx context.Context, site, owner string, now, until time.Time) (latch.Lease, error) {
	from := time.Now()
	l, err := w.Store.Acquire(ctx, site, owner, now, until)
	if err != nil {
		return l, err
	}
	return l, w.say.Encode(event{"acquired", site, l.Fence, from, time.Now()})
}

func (w *witness) Save(ctx context.Context, l latch.Lease, h latch.Head, put []latch.Latch, drop []workload.ID) error {
	if rand.IntN(stalls) == 0 {
		time.Sleep(lease/faster + time.Second)
	}
	from := time.Now()
	if err := w.Store.Save(ctx, l, h, put, drop); err != nil {
		return err
	}
	return w.say.Encode(event{"saved", l.Site, l.Fence, from, time.Now()})
}
