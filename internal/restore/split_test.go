package restore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A field is a cluster for seeds, which can be told to fail. The real one is in
// internal/proof/rebuild.
type field struct {
	seeds     []split.Standing
	try, seed map[string]error // by namespace/name of the workload
	unseed    func(split.Standing) error
	list      error
	asked     []string
}

func (f *field) UID(context.Context) (string, error) { return "green", nil }

func (f *field) Seeds(_ context.Context, site string) ([]split.Standing, error) {
	f.asked = append(f.asked, "list "+site)
	return append([]split.Standing(nil), f.seeds...), f.list
}

func (f *field) Try(_ context.Context, c split.Candidate) (json.RawMessage, error) {
	f.asked = append(f.asked, "try "+c.ID.Short())
	return c.Manifest, f.try[c.ID.Short()]
}

func (f *field) Seed(_ context.Context, s split.Seed, dry bool) error {
	f.asked = append(f.asked, fmt.Sprintf("seed %s %t", s.ID.Short(), dry))
	if err := f.seed[s.ID.Short()]; err != nil || dry {
		return err
	}
	f.seeds = append(f.seeds, split.Standing{Namespace: s.ID.Namespace, Name: s.Name, Pods: s.Pods})
	return nil
}

func (f *field) Unseed(_ context.Context, s split.Standing) error {
	f.asked = append(f.asked, "unseed "+s.Name)
	if f.unseed != nil {
		if err := f.unseed(s); err != nil {
			return err
		}
	}
	for i := range f.seeds {
		if f.seeds[i].Name == s.Name {
			f.seeds = append(f.seeds[:i:i], f.seeds[i+1:]...)
			break
		}
	}
	return nil
}

var replicaSets = schema.GroupResource{Group: "apps", Resource: "replicasets"}

// halves is a record of Deployments that were lost half-way, and what creates
// them.
func halves(names ...string) (checkpoint.Tree, []split.Source) {
	tree := checkpoint.Tree{Records: map[string]checkpoint.Record{}, Site: checkpoint.Site{Name: "prod-eu", Cluster: "blue"}}
	var source split.Source
	for _, text := range names {
		namespace, name, _ := strings.Cut(text, "/")
		if tree.Records[namespace].Entries == nil {
			tree.Records[namespace] = checkpoint.Record{Namespace: namespace, Entries: map[workload.ID]checkpoint.Entry{}}
		}
		tree.Records[namespace].Entries[workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}] = checkpoint.Entry{Replicas: 10, Rollout: checkpoint.Rollout{
			Milestone: 50, Phase: checkpoint.PhaseHalted, Returns: checkpoint.SideTo, ImagesOnly: true,
			From: checkpoint.Template{Hash: "5d8f", Images: "main=app:1"}, To: checkpoint.Template{Hash: "7c9b", Images: "main=app:2"},
		}}
		source.Objects = append(source.Objects, fmt.Appendf(nil, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": %q, "name": %q},
			"spec": {"replicas": 10, "strategy": {"rollingUpdate": {"maxSurge": 2}}, "template": {"spec": {"containers": [{"name": "main", "image": "app:2"}]}}}}`, namespace, name))
	}
	return tree, []split.Source{source}
}

func splitting(f *field) *restore.Splitting {
	return &restore.Splitting{Site: "prod-eu", Cluster: f, Clock: func() time.Time { return time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC) }}
}

func table(t *testing.T, r restore.SplitReport) string {
	t.Helper()
	var b strings.Builder
	if err := r.Table(&b, term.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each that is refused is told with the reason, and stops none of the others.
func TestASplitSeedsWhatItCan(t *testing.T) {
	t.Parallel()
	tree, sources := halves("shop/web", "shop/there", "shop/taken", "pay/new", "shop/denied", "shop/hooked", "shop/standing", "shop/adopted")
	tree.Broken = map[string]error{"dark": errors.New("is not YAML")}
	f := &field{
		seeds: []split.Standing{{Namespace: "shop", Name: "standing-5d8f", Pods: 5, Ready: 3}, {Namespace: "shop", Name: "adopted-5d8f", Pods: 4, Ready: 4, Adopter: "adopted"}},
		try: map[string]error{
			"shop/there": apierrors.NewAlreadyExists(replicaSets, "there"), "pay/new": apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "pay"),
			"shop/hooked": apierrors.NewInternalError(errors.New("failed calling webhook")),
		},
		seed: map[string]error{"shop/taken": apierrors.NewAlreadyExists(replicaSets, "taken-5d8f"), "shop/denied": apierrors.NewForbidden(replicaSets, "denied-5d8f", errors.New("quota"))},
	}
	run := splitting(f)
	run.DryRun = true
	r, err := run.Run(t.Context(), tree, sources)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table(t, r), `WORKLOAD  LOST AT  PODS  BEFORE  TARGET              SEED
shop/web  50 %     10    5       7, 2 of them surge  web-5d8f
notice: shop/web was halted, and goes on once it is created: kubectl rollout pause keeps it
shop/adopted-5d8f: adopted by adopted, 4 of 4 pods ready
shop/standing-5d8f: seeded already, 3 of 5 pods ready
left: pay/new has no namespace yet: create that first, from git, since its labels decide how pods run
left: shop/taken has a ReplicaSet taken-5d8f already that is no seed of this site: delete it, or let it be
left: shop/there is there already, and nothing of it was seeded: a seed comes before its Deployment; delete that and hold what creates it, or let it roll out anew
would seed 1 rollout with 5 pods
nothing was written: --yes does it
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, words := range []string{"record of namespace dark", "quota", "failed calling webhook", "3 rollouts not seeded"} {
		if r.Err() == nil || !strings.Contains(r.Err().Error(), words) {
			t.Errorf("%v, want %s", r.Err(), words)
		}
	}
	if r.Cluster != "green" || r.Declared != "blue" || len(f.seeds) != 2 {
		t.Errorf("%+v, seeds %+v", r, f.seeds)
	}

	run.DryRun, run.Options = false, split.Options{Workloads: []workload.ID{{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}}
	var said []string
	run.Say = func(line string) { said = append(said, line) }
	r, err = run.Run(t.Context(), tree, sources)
	if err != nil || len(f.seeds) != 3 || fmt.Sprint(said) != "[shop/web: seeded as web-5d8f, with 5 pods]" {
		t.Fatalf("%v %+v %q", err, f.seeds, said)
	}
	if got := table(t, r); !strings.HasSuffix(got, "seeded 1 rollout with 5 pods; now let what creates the Deployments go on\n") {
		t.Error(got)
	}
	text, _ := json.Marshal(r)
	if want := `{"site":"prod-eu","cluster":"green","declared":"blue","at":"2026-03-02T08:00:00Z","dryRun":false,"seeded":[{"workload":"shop/deployment/web","replicaSet":"web-5d8f","reached":50,"replicas":10,"before":5,"target":7,"surge":2,"halted":true}],"problems":["read the record of namespace dark: is not YAML"]}`; string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

// What says that nothing more can be asked ends the run; the next goes on.
func TestASplitThatCannotAskEnds(t *testing.T) {
	t.Parallel()
	tree, sources := halves("shop/a", "shop/b", "shop/c")
	f := &field{try: map[string]error{"shop/b": &kube.ServerError{Kind: kube.ErrUnreachable, Server: "https://green", Cause: errors.New("refused")}}}
	if _, err := splitting(f).Run(t.Context(), tree, sources); err == nil || !strings.Contains(err.Error(), "https://green") {
		t.Errorf("unreachable: %v", err)
	}
	if got := strings.Join(f.asked, ", "); got != "list prod-eu, try shop/a, seed shop/a false, try shop/b" {
		t.Errorf("asked %s", got)
	}
	f.try, f.asked = nil, nil
	r, err := splitting(f).Run(t.Context(), tree, sources)
	if err != nil || len(r.Seeded) != 2 || len(r.Standing) != 1 {
		t.Errorf("%+v %v", r, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f = &field{try: map[string]error{"shop/a": context.Canceled}}
	if _, err := splitting(f).Run(ctx, tree, sources); !errors.Is(err, context.Canceled) || len(f.asked) != 2 {
		t.Errorf("told to stop: %v, %q", err, f.asked)
	}
	f = &field{list: apierrors.NewForbidden(replicaSets, "", errors.New("no"))}
	if _, err := splitting(f).Run(t.Context(), tree, sources); err == nil || len(f.asked) != 1 {
		t.Errorf("seeds unread: %v, %q", err, f.asked)
	}
}

// A Deployment that adopts a seed while it is taken back keeps it.
func TestWhatIsAdoptedMeanwhileIsNotTakenBack(t *testing.T) {
	t.Parallel()
	f := &field{seeds: []split.Standing{{Namespace: "shop", Name: "free", Pods: 3}, {Namespace: "shop", Name: "raced", Pods: 2}, {Namespace: "shop", Name: "busy", Pods: 1}}}
	conflict := apierrors.NewConflict(replicaSets, "x", errors.New("changed"))
	busy := 2
	f.unseed = func(s split.Standing) error {
		switch {
		case s.Name == "raced":
			for i := range f.seeds {
				if f.seeds[i].Name == "raced" {
					f.seeds[i].Adopter = "web"
				}
			}
			return conflict
		case s.Name == "busy" && busy > 0:
			busy--
			return conflict
		}
		return nil
	}
	r, err := splitting(f).Release(t.Context())
	if err != nil || r.Err() != nil || len(r.Taken) != 2 || len(r.Standing) != 1 || r.Standing[0].Adopter != "web" {
		t.Fatalf("%+v %v", r, err)
	}
	if got := table(t, r); !strings.HasSuffix(got, "shop/free: is taken back, with 3 pods\nshop/busy: is taken back, with 1 pod\ntook back 2 seeds\n") {
		t.Error(got)
	}
	f.seeds, f.unseed = f.seeds[:1], func(split.Standing) error { return conflict }
	f.seeds[0].Adopter = ""
	if r, err = splitting(f).Release(t.Context()); err != nil || r.Err() == nil || len(r.Taken) != 0 || len(r.Problems) != 1 {
		t.Errorf("never: %+v %v", r, err)
	}
}
