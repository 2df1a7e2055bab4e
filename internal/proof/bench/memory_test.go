package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q}}]
users: [{name: test, user: {}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
`

const document = `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod
cluster: {kubeconfig: %q}
state: {dynamodb: %q}
repository: {url: %q, credential: env:GIT_TOKEN}
`

// memories measures the resident set of the built bootstrap: a new process, up to its
// second quiet tick of a site whose state is saved.
func memories(t *testing.T, b book) {
	binary := runtimeapi.Build(t, "../../../functions/latch")
	tables, server := dynalite.Start(t), gitserver.Start(t)
	for _, n := range []int{10, 50} {
		label := fmt.Sprintf("%dk", n)
		cluster := canned(t, scaled(1000*n))
		server.Create(t, label, map[string]string{"gitlatch.yaml": latching})
		table := tables.Table(t, "pk", "sk")
		settle(t, cluster.URL, server.URL(label), dynamo.Open(dynamo.Options{Table: table, Client: tables.Client()}))

		path := filepath.Join(t.TempDir(), "kubeconfig")
		must(t, os.WriteFile(path, fmt.Appendf(nil, kubeconfig, cluster.URL), 0o600))
		f := runtimeapi.Start(t, binary, config.Variable+"="+fmt.Sprintf(document, path, table, server.URL(label)), "GIT_TOKEN=none",
			"AWS_ENDPOINT_URL_DYNAMODB="+tables.URL, "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=example")
		for range 2 {
			if r := f.Invoke(t.Context(), []byte("{}")); r.Error != nil {
				t.Fatalf("%s: %v\n%s", label, r.Error, r.Logs)
			}
		}
		peak, ok := f.PeakRSS()
		if !ok {
			t.Fatal("this machine does not tell the memory of a process")
		}
		b.alone("tick_rss_mib_"+label, float64(peak)/(1<<20))
	}
}

// settle makes the first commit of a site, and stores the resulting state.
func settle(t *testing.T, cluster, url string, store *dynamo.Store) {
	t.Helper()
	const period = 5 * time.Minute
	now := time.Now().Add(-2 * period)
	clock := func() time.Time { return now }
	sampler, err := kube.New(&rest.Config{Host: cluster, QPS: -1}, kube.Options{Site: "prod", Clock: clock})
	must(t, err)
	repository, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main"})
	must(t, err)
	held := mem.New()
	for run := range 2 {
		report, err := (&tick.Tick{
			Site: "prod", Owner: fmt.Sprint("run-", run), Period: period, Lease: period - time.Minute,
			Sampler: sampler, Store: held, Repository: repository, Clock: clock, PolicyFile: "gitlatch.yaml",
			ParsePolicy: func(file string, data []byte) (policy.Set, error) { return config.ParsePolicy(file, data, period) },
		}).Run(t.Context())
		must(t, errors.Join(err, report.Err()))
		if (report.Commit != nil) != (run == 1) {
			t.Fatalf("tick %d commits %v", run, report.Commit)
		}
		now = now.Add(period)
	}
	head, latches, err := latch.Load(t.Context(), held, "prod")
	must(t, err)
	lease, err := store.Acquire(t.Context(), "prod", "settle", now, now.Add(time.Minute))
	must(t, err)
	moved := map[workload.ID]latch.Latch{}
	for id, l := range latches {
		l.Rev = 0 // the revision of a latch that this store does not have yet
		moved[id] = l
	}
	all := latch.LatchesOf(nil).With(moved)
	head.Latches = all.Checksum()
	put, _ := all.Changed()
	err = store.Save(t.Context(), lease, head, put, nil)
	must(t, err)
	must(t, store.Release(t.Context(), lease))
}
