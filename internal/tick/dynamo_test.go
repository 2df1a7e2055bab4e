//go:build aws

package tick_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// patience is the time limit of every wait in these tests.
const patience = 5 * time.Minute

// needs are the desired replicas of the workloads, by "namespace/name".
type needs map[string]int32

// shared are the parts that all machines of one site share: a table, a repository behind
// a git server, the cluster and the clock.
type shared struct {
	dynamo *dynamodb.Client
	table  string
	git    *gitserver.Server
	origin *gitserver.Origin

	mu      sync.Mutex
	now     time.Time
	cluster needs
}

func newShared(t *testing.T, tables *dynalite.Server) *shared {
	s := &shared{dynamo: tables.Client(), table: tables.Table(t, "pk", "sk"), git: gitserver.Start(t), now: morning, cluster: needs{}}
	s.origin = s.git.Create(t, "site", map[string]string{"gitlatch.yaml": latching + "policies: [{name: default, match: {}, series: 1-2-5, hold: {up: 1}}]\n"})
	return s
}

func (s *shared) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// later advances the clock and sets the desired replicas in the cluster.
func (s *shared) later(d time.Duration, n needs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	maps.Copy(s.cluster, n)
}

// Sample returns the sample of every machine.
func (s *shared) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := workload.Fleet{Site: site, Cluster: "uid-blue", At: s.now}
	for _, who := range slices.Sorted(maps.Keys(s.cluster)) {
		f.Samples = append(f.Samples, workload.Sample{ID: id(who), Rollout: &workload.Rollout{}, Scale: &workload.Scale{
			Desired: s.cluster[who], Ready: s.cluster[who], Driver: workload.DrivenByHPA, Min: 1, Max: 20000,
		}})
	}
	return f, nil
}

// parts are the parts of a machine that a test may wrap.
type parts struct {
	sampler   tick.Sampler
	client    dynamo.Client
	transport http.RoundTripper
}

// machine returns the tick of one more machine, with separate connections.
func (s *shared) machine(t *testing.T, owner string, change ...func(*parts)) *tick.Tick {
	t.Helper()
	p := parts{sampler: s, client: s.dynamo, transport: http.DefaultTransport}
	for _, c := range change {
		c(&p)
	}
	repository, err := gitwire.Open(gitwire.Options{URL: s.git.URL("site"), Branch: "main", Transport: p.transport})
	must(t, err)
	t.Cleanup(func() { must(t, repository.Close()) })
	return &tick.Tick{
		Site: site, Owner: owner, Period: period, Lease: period - time.Minute, Clock: s.clock,
		Sampler:    p.sampler,
		Store:      s.store(p.client),
		Repository: repository,
		PolicyFile: "gitlatch.yaml",
		ParsePolicy: func(file string, data []byte) (policy.Set, error) {
			return config.ParsePolicy(file, data, period)
		},
	}
}

func (s *shared) store(client dynamo.Client) latch.Store {
	return dynamo.Open(dynamo.Options{Table: s.table, Client: client})
}

// calm runs a tick without disturbance.
func (s *shared) calm(t *testing.T, owner string) tick.Report {
	t.Helper()
	r, err := s.machine(t, owner).Run(t.Context())
	if err := errors.Join(err, r.Err()); err != nil || r.NotRun != "" {
		t.Fatalf("tick of %s: %v %s", owner, err, r.NotRun)
	}
	return r
}

func (s *shared) load(t *testing.T) (latch.Head, map[string]latch.Latch) {
	t.Helper()
	head, all, err := latch.Load(t.Context(), s.store(s.dynamo), site)
	must(t, err)
	latches := map[string]latch.Latch{}
	for _, l := range all {
		latches[l.ID.Namespace+"/"+l.ID.Name] = l
	}
	return head, latches
}

// levels returns the levels on the branch.
func (s *shared) levels(t *testing.T) needs {
	t.Helper()
	files := map[string][]byte{}
	for path := range s.origin.Tree(t, "main") {
		files[path] = []byte(s.origin.Show(t, "main", path))
	}
	tree, err := checkpoint.ParseTree(site, files)
	must(t, err)
	levels := needs{}
	for id, e := range tree.Entries() {
		levels[id.Namespace+"/"+id.Name] = e.Replicas
	}
	return levels
}

// agrees fails the test unless branch and latches both have these levels, and no work
// remains.
func (s *shared) agrees(t *testing.T, want needs) {
	t.Helper()
	_, latches := s.load(t)
	declared := needs{}
	for who, l := range latches {
		declared[who] = l.Declared.Replicas
	}
	if git := s.levels(t); !maps.Equal(git, want) || !maps.Equal(declared, want) {
		t.Errorf("git declares %v\nlatches hold %v\nwant %v", git, declared, want)
	}
	s.origin.Check(t)
}
