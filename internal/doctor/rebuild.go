package doctor

import (
	"fmt"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rebuild sets the number of replicas that a rebuild starts for a workload, and adds the
// findings about a start below the level.
func (e *examination) rebuild(s *subject) {
	s.Rollout = s.entry.Rollout
	s.Returns, s.Returned = e.returns(*s)
	o, w := e.given(s.ID)
	s.Paused = pauses(w)
	if s.Paused {
		e.lowers(s, Paused, s.ID.String(), fmt.Sprintf("%s builds the workload with paused: true. A rebuild creates the workload without pods, and the pods start only when you resume the workload.", o.Dir), "remove paused: true from the manifest in "+o.Dir)
	}
	e.limits(s)
	if e.starts(s); s.Paused {
		s.Start, s.By = 0, o.Dir
	}
}

// given returns the first overlay with a workload, and the workload's manifest. Both are
// zero if no overlay has it.
func (e *examination) given(id workload.ID) (Overlay, gitops.Object) {
	for _, o := range e.Overlays {
		if w, ok := o.rendered(id); ok {
			return o, w
		}
	}
	return Overlay{}, gitops.Object{}
}

// pauses reports whether a new workload has no pods until it is resumed. A paused Rollout
// of Argo Rollouts still gets its first pods.
func pauses(w gitops.Object) bool { return w.Paused && w.ID.Kind == workload.Deployment }

// starts sets the number of replicas that a rebuild creates a workload with, and the
// folder or policy that sets it. The number is unknown if no build has the workload,
// unless a policy sets the level on creation and no tool resets it.
func (e *examination) starts(s *subject) {
	o, given := e.given(s.ID)
	if o.Dir != "" {
		s.Start, s.By = 1, o.Dir
		if given.Replicas != nil {
			s.Start = *given.Replicas
		}
	}
	if s.Level == 0 && !s.latch {
		return
	}
	built := s.Start > 0
	applied := e.applied(s.ID.Namespace)
	w, admitted := e.admits(*s)
	included := e.including(s.ID.Namespace)
	if o.Chart { // no Component changes it
		included = nil
	}
	stays := admitted && !built && e.ignored(*s)
	hidden := !built && !stays && e.hidden(s, admitted)
	reset := admitted && len(included) == 0 && e.reset(s)
	switch {
	case reset:
	case s.Level == 0 && (admitted || len(included) > 0):
		// No level is lost yet, and a future level will apply.
	case admitted && !applied && len(included) == 0:
		e.lowers(s, RecordNotApplied, s.ID.Namespace, fmt.Sprintf("%s reads the checkpoint file of the namespace. However, no folder that doctor builds (from Flux, Argo CD, --path and build.paths) applies this file.", w.name()),
			fmt.Sprintf("configure Flux or Argo CD to apply %s before the workloads. If you apply the folder with \"kubectl apply -k %[1]s\", add it to build.paths in the configuration", checkpoint.Directory(e.Site)))
	case admitted && !e.inGit(w) && len(included) == 0:
		s.Lowers = append(s.Lowers, w.missing()) // ways reports it
	case hidden:
	case admitted && applied && (built || stays):
		if s.Start < s.Level {
			s.Start, s.By = s.Level, w.name()
		}
	case admitted && applied && len(included) == 0:
		// The start is unknown, because not everything could be read.
	case o.Chart:
		e.charted(s, given.Replicas)
	case len(included) == 0:
		e.without[s.ID.Namespace] = append(e.without[s.ID.Namespace], *s)
	default:
		e.patched(s, included)
	}
}

// patched adds the finding that explains why the builds with the Component ignore the
// patch for a workload.
func (e *examination) patched(s *subject, included []inclusion) {
	file := checkpoint.RecordPath(e.Site, s.ID.Namespace)
	for _, outside := range []bool{false, true} {
		for _, in := range included {
			w, ok := in.overlay.rendered(s.ID)
			if ok && in.overlay.outside(in.folder.Dir, w) == outside {
				e.skipped(s, in, w)
				return
			}
		}
	}
	for _, in := range included {
		if in.overlay.Err != nil { // overlays reports this error
			s.Lowers = append(s.Lowers, Finding{BuildFails, in.overlay.Dir, in.overlay.Err.Error(), in.overlay.fix()})
			return
		}
		for _, w := range in.overlay.Workloads {
			if renamed(*s, in.overlay, w) {
				e.lowers(s, BeforePrefix, s.ID.String(), fmt.Sprintf("The entry in git is for %s, but %s renames the workload to %s. The entry matches no live workload.", s.ID.Name, in.overlay.Dir, w.ID.Name),
					fmt.Sprintf("delete the entry %s.%s from %s, and latch %s", s.ID.Kind, s.ID.Name, file, w.ID.Name))
				return
			}
		}
	}
	if s.Start > 0 {
		e.lowers(s, ComponentMissing, s.ID.String(), fmt.Sprintf("%s builds the workload but does not include the Component of its namespace. A rebuild ignores its level.", s.By),
			fmt.Sprintf("add %s to components of the kustomization in %s", path.Dir(checkpoint.RecordPath(e.Site, s.ID.Namespace)), s.By))
		return
	}
	e.lowers(s, PatchSkipped, s.ID.String(), fmt.Sprintf("The folder %s builds no %s with this name in namespace %s.", included[0].overlay.Dir, s.ID.Kind, s.ID.Namespace),
		fmt.Sprintf("if you removed the workload, delete the entry %s.%s from %s. Otherwise, add its manifest to this folder", s.ID.Kind, s.ID.Name, file))
}

// skipped adds the finding that explains why a build with both the workload and the
// Component does not set the level.
func (e *examination) skipped(s *subject, in inclusion, w gitops.Object) {
	got := int32(1)
	if w.Replicas != nil {
		got = *w.Replicas
	}
	if got == s.Level {
		return
	}
	f := in.folder
	trap, why := PatchSkipped, ""
	fix := "include the Component one folder above " + f.Dir
	switch {
	case w.Unplaced:
		why = fmt.Sprintf("The manifests in %s have no namespace, but the patch in the Component requires a namespace.", f.Dir)
		fix = fmt.Sprintf("add metadata.namespace: %s to the manifest, or set namespace: %[1]s one folder below", s.ID.Namespace)
	case f.Namespace != "":
		why = fmt.Sprintf("The kustomization in %s includes the Component and sets namespace: %s. kustomize sets the namespace after it applies the Component.", f.Dir, f.Namespace)
	case f.Prefix != "" || f.Suffix != "":
		why = fmt.Sprintf("The kustomization in %s includes the Component and adds a name prefix or suffix. kustomize adds the prefix or suffix after it applies the Component.", f.Dir)
	case in.overlay.outside(f.Dir, w):
		trap, why = ComponentMissing, fmt.Sprintf("The kustomization in %s includes the Component but does not build the workload.", f.Dir)
		fix = "include the Component in a kustomization that also builds the workload"
	default:
		trap, why = Overridden, fmt.Sprintf("Another patch or transformer in %s sets the replicas after the Component.", in.overlay.Dir)
		fix = "remove the other patch or transformer from the kustomization in " + in.overlay.Dir
	}
	e.lowers(s, trap, s.ID.String(), fmt.Sprintf("The level of the workload is %d, but the built manifest starts %s. %s", s.Level, term.Count(int(got), "pod"), why), fix)
}

// outside reports whether a folder that includes Components certainly does not build a
// workload.
func (o Overlay) outside(dir string, w gitops.Object) bool {
	built, known := o.Within[dir]
	return known && !slices.ContainsFunc(built, func(one gitops.Object) bool { return one.ID.Kind == w.ID.Kind && one.ID.Name == w.ID.Name })
}

// renamed reports whether a build renamed the subject to w.
func renamed(s subject, o Overlay, w gitops.Object) bool {
	if w.ID.Kind != s.ID.Kind || w.ID.Namespace != s.ID.Namespace || w.Replicas == nil || *w.Replicas != s.Level {
		return false
	}
	names := []string{s.ID.Name}
	for _, f := range slices.Backward(o.Folders) {
		for _, name := range slices.Clone(names) {
			names = append(names, f.Prefix+name+f.Suffix)
		}
	}
	return w.ID.Name != s.ID.Name && slices.Contains(names, w.ID.Name)
}

// returns describes which template a rebuild should create for a rollout in flight.
// itself is true if a rebuild does this without further action.
func (e *examination) returns(s subject) (text string, itself bool) {
	r := s.entry.Rollout
	if r == (checkpoint.Rollout{}) {
		return "", false
	}
	side, template := "the new template", r.To
	if r.Returns == checkpoint.SideFrom {
		side, template = "the template before", r.From
	}
	text = fmt.Sprintf("%s, at milestone %d %%", side, r.Milestone)
	if template.Images != "" {
		text += ": " + string(template.Images)
	}
	o, w := e.given(s.ID)
	built := checkpoint.ImagesOf(w.Images)
	other := w.Images != nil && r.To.Images != "" && built != r.To.Images
	back := other && built == r.From.Images
	from := r.Returns == checkpoint.SideFrom
	replaced := from && !(back && r.ImagesOnly) // a policy must replace the images
	restorer, restores := e.changes(s, "image", true)
	restores = restores && r.ImagesOnly
	instead := first(
		reason{pauses(w), fmt.Sprintf("; %s builds it paused, so a rebuild creates no pods", o.Dir)},
		reason{other && !back, fmt.Sprintf("; %s builds %s, which is not in the checkpoint file yet, and a rebuild creates it", o.Dir, built)},
		reason{back && !from, fmt.Sprintf("; %s builds %s again, and a rebuild creates it", o.Dir, built)},
		reason{replaced && restores && !e.applied(s.ID.Namespace), "; no folder that doctor builds applies the checkpoint file for the policy, so a rebuild creates git's template"},
		reason{replaced && restores && !e.inGit(restorer), "; " + restorer.name() + " is not in git, so a rebuild creates git's template"},
		reason{replaced && !restores, "; no policy restores it, so a rebuild creates git's template"},
	)
	return text + instead, instead == ""
}

// applied reports whether a build applies the checkpoint file of a namespace. Without the
// file, no policy acts.
func (e *examination) applied(namespace string) bool {
	return slices.ContainsFunc(e.Overlays, func(o Overlay) bool { return slices.Contains(o.Records, namespace) })
}
