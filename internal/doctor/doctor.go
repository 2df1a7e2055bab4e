package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Case is the input of Examine.
type Case struct {
	Site    string
	Fleet   workload.Fleet
	Set     policy.Set
	Policy  string // the path of the policy file on the branch
	Tree    checkpoint.Tree
	Cluster Cluster
	// Changed are the times at which git got its present levels. A workload that is not in it
	// has an older or an unknown one.
	Changed map[workload.ID]time.Time
	// Admission is the file at admission.Path on the branch; nil without such a file.
	Admission []byte
	// Room has the objects of the cluster of a rebuild, and Account the limits of its account.
	Room    limits.Set
	Account limits.Account
	// Tried has the error of the dry-run CREATE of each workload that was tried; a nil error
	// means that the API server admits it. The map is nil if nobody asked. See Try.
	Tried map[workload.ID]error
	// DryRuns is the number of these requests.
	DryRuns int
	// Preview is true if nothing is in git or in the cluster yet. The answers then assume that
	// a rebuild applies the levels before the workloads.
	Preview bool
}

// Kinds returns the kinds of the live workloads and of the workloads in git.
func (c Case) Kinds() workload.Kinds { return c.Tree.Site.Kinds.With(c.Fleet.Kinds) }

// Another reports whether the live cluster is certainly not the site's cluster in git.
func (c Case) Another() bool {
	return c.Tree.Site.Cluster != "" && c.Fleet.Cluster != "" && c.Tree.Site.Cluster != c.Fleet.Cluster
}

// Examine returns the answers and the findings of a case.
func Examine(c Case) Report {
	unread := slices.Concat(c.Fleet.Unread, c.Cluster.Unread)
	for _, namespace := range slices.Sorted(maps.Keys(c.Tree.Broken)) {
		unread = append(unread, workload.Unread{Part: c.Tree.Broken[namespace].Error()})
	}
	e := examination{Case: c, report: Report{Site: c.Site, Unread: unread, Room: map[string]int64{}, DryRuns: c.DryRuns}}
	e.otherCluster()
	e.otherSite()
	e.missingRights()
	e.named()
	for _, s := range e.subjects() {
		e.report.Workloads = append(e.report.Workloads, e.examine(s))
	}
	e.report.Fit = e.Room.Judge(e.Room.Rebuild(e.levels()), e.Account)
	e.quotas()
	for _, p := range e.Set.Unreviewed() {
		text, fix, _ := strings.Cut(p.Text, ": ")
		e.find(ReviewWithoutHost, e.Policy, p.Field+": "+text, fix)
	}
	slices.SortStableFunc(e.report.Findings, func(a, b Finding) int {
		rank := func(f Finding) int { return slices.Index(worst, f.Trap) }
		return cmp.Or(cmp.Compare(rank(a), rank(b)), slices.Compare(a.Subjects, b.Subjects), cmp.Compare(a.Text, b.Text))
	})
	return e.report
}

// An examination is the state of one call of Examine.
type examination struct {
	Case
	report Report
}

func (e *examination) find(trap Trap, subject, text, fix string) {
	e.add(Finding{Trap: trap, Basis: Observed, Subjects: []string{subject}, Text: text, Fix: fix})
}

func (e *examination) add(f Finding) { e.report.Findings = merged(e.report.Findings, f) }

// A subject is a workload under examination.
type subject struct {
	Workload
	sample *workload.Sample // nil if it is not in the sample
	live   *live            // nil if the cluster does not have it
	entry  checkpoint.Entry
	object workload.Object
}

// subjects returns the workloads that the policy latches and the workloads in git, sorted.
func (e *examination) subjects() []subject {
	entries := e.Tree.Entries()
	samples := map[workload.ID]*workload.Sample{}
	for i, sample := range e.Fleet.Samples {
		_, _, latched := e.Set.Choose(sample)
		if _, declared := entries[sample.ID]; latched || declared {
			samples[sample.ID] = &e.Fleet.Samples[i]
		}
	}
	for id := range entries {
		samples[id] = samples[id] // nil if it is not in the sample
	}
	var all []subject
	for _, id := range slices.SortedFunc(maps.Keys(samples), workload.Compare) {
		s := subject{Workload: Workload{ID: id, Level: entries[id].Replicas}, sample: samples[id], live: e.Cluster.live[id], entry: entries[id]}
		s.object, _ = e.Kinds().Object(id.Kind)
		if s.sample != nil && s.sample.Scale != nil {
			s.Live = &s.sample.Scale.Desired
		}
		all = append(all, s)
	}
	return all
}

// examine answers the questions about a workload. It adds the findings about its level.
func (e *examination) examine(s subject) Workload {
	w := s.Workload
	ignores := ""
	if s.live != nil {
		owner, _ := e.Cluster.tools.owner(s.live.meta, selfOf(s.ID, s.object))
		by, _ := e.Cluster.tools.find(owner)
		ignores = by.mayIgnore()
	}
	m := s.live.manifest(s.ID.String(), ignores)
	w.Answers.Created = e.created(s)
	most := w.Level
	if w.Live != nil {
		most = max(most, *w.Live)
	}
	w.Without = m.without(s.ID.Kind, w.Answers.Created, most)
	w.Start = w.Without
	w.Rollout = s.entry.Rollout
	w.Returns, w.Returned = e.returns(s)
	if w.Level == 0 {
		return w
	}
	w.Answers.Applied, w.Answers.Bound, w.Answers.First = e.enters(s)
	w.Answers.Kept = kept(m, ignores)
	w.Answers.Positive = positive(m)
	w.Answers.Admitted = e.admitted(s)
	w.Start = w.Answers.with(w.Level, m, w.Without, e.Tried != nil)
	for _, a := range w.Answers.all() {
		f, ok := a.finding(s.ID.String())
		if ok {
			e.add(f)
			w.Lowers = append(w.Lowers, Lower{f.Trap, f.Text, f.Fix})
		}
	}
	e.limits(&w, s)
	return w
}

// enters answers the questions that decide whether a level reaches the workload.
func (e *examination) enters(s subject) (applied, bound, first Answer) {
	if !e.Preview {
		return e.applied(s), e.bound(s), e.first(s)
	}
	assumed := States("a preview assumes that a rebuild applies the levels before the workloads")
	served := e.served()
	if !served.Yes() {
		return assumed, served, assumed
	}
	return assumed, assumed, assumed
}

// limits reports a maximum in git that is too low for a workload.
func (e *examination) limits(w *Workload, s subject) {
	need := w.Level
	if w.Live != nil {
		need = max(need, *w.Live)
	}
	if top := s.entry.Max; top > 0 && need > top {
		f := Finding{Trap: MaxUnderNeed, Basis: Observed, Subjects: []string{s.ID.String()}, Text: fmt.Sprintf("The maximum in git is %s, but the workload needs %d.", term.Count(top, "replica"), need),
			Fix: fmt.Sprintf("set %s.%s_max: \"%d\" in %s", s.ID.Kind, s.ID.Name, need, checkpoint.RecordPath(e.Site, s.ID.Namespace))}
		e.add(f)
		w.Lowers = append(w.Lowers, Lower{f.Trap, f.Text, f.Fix})
	}
}

// otherCluster reports that the examined cluster is not the site's cluster in git.
func (e *examination) otherCluster() {
	if e.Another() {
		e.find(OtherCluster, e.Fleet.Cluster, fmt.Sprintf("%s names the cluster %s as the cluster of the site, but doctor checked a different cluster.",
			checkpoint.SitePath(e.Site), e.Tree.Site.Cluster), "select the site's cluster with --context. After a rebuild, run \"gitlatch adopt\"")
		marks := e.Tree.Marks(e.Fleet.Samples)
		e.report.Marks = &marks
	}
}
