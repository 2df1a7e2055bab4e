package doctor_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
)

// A rollout in git names the template that a rebuild should start with. Only a policy that
// replaces images brings back the old one.
func TestARolloutNamesTheTemplateThatReturns(t *testing.T) {
	t.Parallel()
	from, to := checkpoint.Template{Hash: "1", Images: "main=app:1"}, checkpoint.Template{Hash: "2", Images: "main=app:2"}
	early := checkpoint.Rollout{Milestone: 25, From: from, To: to, Returns: checkpoint.SideFrom, ImagesOnly: true}
	more := early
	more.ImagesOnly = false
	late := checkpoint.Rollout{Milestone: 75, From: from, To: to, Returns: checkpoint.SideTo, ImagesOnly: true}
	replacing, err := admission.Policy{Images: true}.Format()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rollout checkpoint.Rollout
		policy  []byte // in git and in the cluster; nil is the policy without images
		first   bool
		want    string
		itself  bool
	}{
		"no rollout":           {checkpoint.Rollout{}, nil, true, "", false},
		"the old template":     {early, replacing, true, "the template before, at milestone 25 %: main=app:1", true},
		"without images":       {early, nil, true, "the template before, at milestone 25 %: main=app:1; the admission policy does not replace images, so a rebuild creates the manifest's template", false},
		"more than the images": {more, replacing, true, "the template before, at milestone 25 %: main=app:1; the templates differ in more than their images, so a rebuild creates the manifest's template", false},
		"without an order":     {early, replacing, false, "the template before, at milestone 25 %: main=app:1; it is unknown whether a rebuild applies checkpoints/prod before the workload", false},
		"the new template":     {late, replacing, true, "the new template, at milestone 75 %: main=app:2; the manifest decides, and gitlatch does not read it", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.policy = c.policy
			if !c.first {
				w.objects["apps"] = kustomization("apps", "", "True")
			}
			w.change = func(one *doctor.Case) {
				one.Tree.Records["shop"].Entries[web] = checkpoint.Entry{Replicas: 50, Rollout: c.rollout}
				if c.policy != nil {
					one.Admission = c.policy
				}
			}
			got := doctor.Examine(w.read(t)).Workloads[0]
			if got.Returns != c.want || got.Returned.Yes() != c.itself {
				t.Errorf("got  %q, %v\nwant %q, %v", got.Returns, got.Returned, c.want, c.itself)
			}
		})
	}
}
