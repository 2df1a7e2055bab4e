package doctor

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Case is all that is looked at.
type Case struct {
	Site     string
	Here     Here
	Fleet    workload.Fleet
	Set      policy.Set
	Policy   string // the path of the Set's file on the branch
	Tree     checkpoint.Tree
	Cluster  Cluster
	Overlays []Overlay
	InPlace  []inplace.File
}

// Kinds are those of the workloads that were looked for, and of those that git
// declares.
func (c Case) Kinds() workload.Kinds { return c.Tree.Site.Kinds.With(c.Fleet.Kinds) }

// An Overlay is a folder of the repository as it was built; Err is why it could
// not be.
type Overlay struct {
	gitops.Overlay
	By string // what applies it, as its Build says
	// Namespace is where objects go that state none; "" is as kustomize has it.
	Namespace string
	// Within is what those of its folders build, by themselves, that include
	// Components, by folder; the folder of the overlay itself is not among them.
	Within map[string][]gitops.Object
	Err    error
}

// Examine looks at a case.
func Examine(c Case) Report {
	e := examination{Case: c, appliers: c.Cluster.appliers(), without: map[string][]subject{}, guards: map[string]Finding{}, report: Report{
		Site: c.Site, Unread: slices.Concat(c.Fleet.Unread, c.Cluster.Unread), Evidence: checkpoint.Evidence{}, Room: map[string]int64{},
	}}
	e.apart()
	e.cluster()
	e.ways()
	e.named()
	e.charts()
	for _, w := range e.subjects() {
		if w.Level > 0 || w.latch {
			e.inert(&w) // of a rollout alone nothing could act
		}
		e.rebuild(&w)
		_, w.Evident = c.Tree.Evidence.Covers(w.ID)
		e.report.Workloads = append(e.report.Workloads, w.Workload)
	}
	e.guarded()
	e.excluded()
	e.quotas()
	e.overlays()
	e.marks()
	for _, p := range e.Set.Unreviewed() {
		text, fix, _ := strings.Cut(p.Text, ": ")
		e.find(ReviewWithoutHost, e.Policy, p.Field+": "+text, fix)
	}
	e.evidence()
	slices.SortStableFunc(e.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(worst, a.Trap), slices.Index(worst, b.Trap)),
			cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Text, b.Text))
	})
	e.report.Findings = slices.Compact(e.report.Findings)
	return e.report
}

// An examination is an Examine under way.
type examination struct {
	Case
	appliers []applier
	// namesakes are the overlays that are left out of the case, since an object of
	// another cluster or of another repository names their folders.
	namesakes []Overlay
	report    Report
	without   map[string][]subject // by namespace, what no build has a Component for
	guards    map[string]Finding   // by the object that applies the chart
}

func (e *examination) find(trap Trap, subject, text, fix string) Finding {
	f := Finding{trap, subject, text, fix}
	e.report.Findings = append(e.report.Findings, f)
	return f
}

// lowers notes why a rebuild does not start a workload at what it needs.
func (e *examination) lowers(s *subject, trap Trap, subject, text, fix string) {
	s.Lowers = append(s.Lowers, e.find(trap, subject, text, fix))
}

// A subject is a workload that is looked at, with what is known of it.
type subject struct {
	Workload
	sample *workload.Sample // nil where it does not run
	entry  checkpoint.Entry
	object workload.Object
	labels map[string]string
	latch  bool // its scale would be declared
}

// subject is what is known of a workload by its sample, nil where it does not run.
func (e *examination) subject(id workload.ID, sample *workload.Sample) subject {
	s := subject{Workload: Workload{ID: id}, sample: sample}
	s.object, _ = e.Cluster.Kinds.Object(id.Kind)
	if sample != nil {
		s.labels = sample.Labels.Map()
	}
	if sample != nil && sample.Scale != nil {
		s.Live = sample.Scale.Desired
	}
	return s
}

// pointer is the field that its checkpoint is.
func (s subject) pointer() string { return s.object.Replicas.Pointer() }

// subjects are the workloads that the policy latches, and those that git
// declares.
func (e *examination) subjects() []subject {
	entries := e.Tree.Entries()
	by := map[workload.ID]subject{}
	for id := range entries {
		by[id] = e.subject(id, nil)
	}
	for i, sample := range e.Fleet.Samples {
		p, _, latched := e.Set.Choose(sample)
		if _, declared := entries[sample.ID]; latched || declared {
			s := e.subject(sample.ID, &e.Fleet.Samples[i])
			s.latch = latched && p.Scale == policy.ModeLatch
			by[s.ID] = s
		}
	}
	all := slices.SortedFunc(maps.Values(by), func(a, b subject) int { return workload.Compare(a.ID, b.ID) })
	for i, s := range all {
		all[i].entry, all[i].Level = entries[s.ID], entries[s.ID].Replicas
	}
	return all
}
