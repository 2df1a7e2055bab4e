package doctor

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Case is the input of Examine.
type Case struct {
	Site     string
	Here     Here
	Fleet    workload.Fleet
	Set      policy.Set
	Policy   string // the path of the policy file on the branch
	Tree     checkpoint.Tree
	Cluster  Cluster
	Overlays []Overlay
	Room     fit.Room // for the pods of a rebuild
}

// Kinds returns the kinds of the live workloads and of the workloads in git.
func (c Case) Kinds() workload.Kinds { return c.Tree.Site.Kinds.With(c.Fleet.Kinds) }

// An Overlay is the result of a Build. Err is the error of the build.
type Overlay struct {
	gitops.Overlay
	By string // the By of its Build
	// Namespace is the namespace of objects that state none. "" uses kustomize's default.
	Namespace string
	// Within contains the objects that each folder with Components builds on its own, by
	// folder. It does not contain the folder of the overlay itself.
	Within map[string][]gitops.Object
	// Sites are the sites whose files the build includes, sorted.
	Sites []string
	// Generated is true if the folder has no kustomization, so that the tool applies the
	// manifests below the folder. Dropped is true if it has one that the source excludes.
	Generated, Dropped bool
	// Chart is true if the tool renders the folder as a Helm chart.
	Chart bool
	Err   error
}

// Examine returns the findings of a case.
func Examine(c Case) Report {
	broken := lists.Map(slices.Sorted(maps.Keys(c.Tree.Broken)), func(namespace string) workload.Unread {
		return workload.Unread{Part: c.Tree.Broken[namespace].Error()}
	})
	e := examination{Case: c, appliers: c.Cluster.appliers(), installs: c.Cluster.installs(), without: map[string][]subject{}, report: Report{
		Site: c.Site, Unread: slices.Concat(c.Fleet.Unread, c.Cluster.Unread, broken), Room: map[string]int64{},
	}}
	e.apart()
	e.scalers = e.autoscalers()
	e.cluster()
	e.ways()
	e.named()
	for _, w := range e.subjects() {
		if w.Level > 0 || w.latch {
			e.inert(&w) // an entry with only a rollout has no level that could act
		}
		e.rebuild(&w)
		e.overwritten(w)
		e.upgraded(w)
		e.report.Workloads = append(e.report.Workloads, w.Workload)
	}
	e.excluded()
	e.quotas()
	e.place()
	e.overlays()
	for _, p := range e.Set.Unreviewed() {
		text, fix, _ := strings.Cut(p.Text, ": ")
		e.find(ReviewWithoutHost, e.Policy, p.Field+": "+text, fix)
	}
	slices.SortStableFunc(e.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(worst, a.Trap), slices.Index(worst, b.Trap)),
			cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Text, b.Text))
	})
	e.report.Findings = slices.Compact(e.report.Findings)
	return e.report
}

// An examination is the state of one call of Examine.
type examination struct {
	Case
	appliers []applier
	installs []applier // of the HelmReleases, in their order
	// namesakes are the overlays that an object of another cluster or another repository
	// builds. They are not part of the case.
	namesakes []Overlay
	scalers   map[workload.ID][]scaler // by their workload
	report    Report
	without   map[string][]subject // workloads without their Component in a build, by namespace
}

func (e *examination) find(trap Trap, subject, text, fix string) Finding {
	f := Finding{trap, subject, text, fix}
	e.report.Findings = append(e.report.Findings, f)
	return f
}

// lowers adds a finding that explains why a rebuild does not start a workload at its
// level.
func (e *examination) lowers(s *subject, trap Trap, subject, text, fix string) {
	s.Lowers = append(s.Lowers, e.find(trap, subject, text, fix))
}

// A subject is a workload under examination.
type subject struct {
	Workload
	sample *workload.Sample // nil if it is not in the sample
	entry  checkpoint.Entry
	object workload.Object
	labels map[string]string
	latch  bool   // the policy latches its replicas
	field  string // the JSON pointer of the field that a rule has to ignore; "" for the replicas
}

// subject returns a subject. sample is nil if the workload is not in the sample.
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

// pointer returns the JSON pointer of the field that a rule has to ignore.
func (s subject) pointer() string { return cmp.Or(s.field, s.object.Replicas.Pointer()) }

// within reports whether the path of a rule is this field or a parent of it.
func (s subject) within(path string) bool {
	return path != "" && strings.HasPrefix(s.pointer()+"/", path+"/")
}

// subjects returns the workloads that the policy latches and the workloads in git,
// sorted.
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
