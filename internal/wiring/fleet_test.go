package wiring

import (
	"context"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// played is a fake cluster that notes the kinds of its last sample.
type played struct{ looked workload.Kinds }

func (p *played) Sample(_ context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	p.looked = kinds
	return workload.Fleet{Cluster: "uid", At: time.Now(), Kinds: kinds}, nil
}

// The sites of a fleet share one Config, and share one policy or have separate ones. A
// tick samples the policy's custom kinds from the first tick on.
func TestASiteOfAFleetHasTheKindsThatItsPolicyNames(t *testing.T) {
	t.Parallel()
	o := opener(t, "fleet: fleet.yaml\nstate: {memory: {}}\nrepository: {url: /srv/fleet.git}")
	for site, policy := range map[string]string{
		"plain":  "",
		"worker": "kinds: [{apiVersion: example.com/v1, kind: Worker, resource: workers}]\npolicies: [{name: workers, match: {kinds: [worker]}}]\n",
	} {
		var cluster played
		member := o.Of(config.Member{Site: site})
		store, err := member.Store(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		report, err := local.Tick(member.Config, local.Parts{
			Sampler: &cluster, Store: store, Clock: time.Now, Owner: Owner("test"),
			Repository: repomem.New(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\n" + policy}),
		}).Run(t.Context())
		if _, looked := cluster.looked["worker"]; err != nil || looked != (policy != "") || len(report.Kinds) != len(cluster.looked) {
			t.Errorf("%s: looked for %v, report %+v, error %v", site, cluster.looked, report, err)
		}
	}
}

// A secret is rotated while the environment of a dispatcher or worker is warm.
func TestAListThatCannotBeReadMakesTheNextReadLogInAgain(t *testing.T) {
	t.Parallel()
	o := opener(t, "fleet: fleet.yaml\nstate: {memory: {}}\nrepository: {url: "+t.TempDir()+"}")
	o.held = &heldKeys{}
	r := Roster{Opener: o}
	if _, err := r.Read(t.Context()); err == nil || o.held != nil {
		t.Errorf("error %v, held %v", err, o.held)
	}
}
