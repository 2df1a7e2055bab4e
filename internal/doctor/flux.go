package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A kustomization is a Kustomization of Flux, reduced to the fields that doctor reads.
type kustomization struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Suspend         bool         `json:"suspend"`
		KubeConfig      *struct{}    `json:"kubeConfig"`
		Path            string       `json:"path"`
		SourceRef       sourceRef    `json:"sourceRef"`
		TargetNamespace string       `json:"targetNamespace"`
		NamePrefix      string       `json:"namePrefix"`
		NameSuffix      string       `json:"nameSuffix"`
		Components      []any        `json:"components"`
		Patches         []any        `json:"patches"`
		Images          []any        `json:"images"`
		Ignore          []ignoreRule `json:"ignore"`
	} `json:"spec"`
	Status struct {
		fluxStatus
		Inventory struct {
			Entries []struct {
				ID string `json:"id"` // namespace_name_group_kind
			} `json:"entries"`
		} `json:"inventory"`
	} `json:"status"`
}

// A sourceRef is a reference to a source. Without a namespace, the source is in the
// namespace of the object with the reference.
type sourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// A fluxStatus is the part of the status that all Flux objects share.
type fluxStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Conditions         []metav1.Condition `json:"conditions"`
}

type ignoreRule struct {
	Paths  []string `json:"paths"`
	Target *struct {
		Group              string `json:"group"`
		Version            string `json:"version"`
		Kind               string `json:"kind"`
		Namespace          string `json:"namespace"`
		Name               string `json:"name"`
		LabelSelector      string `json:"labelSelector"`
		AnnotationSelector string `json:"annotationSelector"`
	} `json:"target"`
}

func (k kustomization) name() string {
	return fmt.Sprintf("Kustomization %s/%s", k.Metadata.Namespace, k.Metadata.Name)
}

// applier returns the applier of a Kustomization. from is its source, or nil if the
// source does not exist or is not a GitRepository.
func (k kustomization) applier(kinds workload.Kinds, from *gitRepository) applier {
	s := k.Spec
	a := applier{tool: Flux, name: k.name(), lists: map[workload.ID]bool{}, keeps: k.keeps, next: k.next,
		origins: []origin{s.SourceRef.in(k.Metadata.Namespace).origin(from)}, stopped: k.Status.stopped(k.Metadata, s.Suspend)}
	if s.KubeConfig != nil {
		a.server, a.remedy = "the cluster of its spec.kubeConfig", "remove spec.kubeConfig"
	}
	if from != nil {
		if why := from.Status.stopped(from.Metadata, from.Spec.Suspend); why != "" && a.stopped == "" {
			a.stopped = "its source: " + why
		}
	}
	listed := kinds.With(gitops.Autoscalers)
	for _, entry := range k.Status.Inventory.Entries {
		if part := strings.Split(entry.ID, "_"); len(part) == 4 {
			kind, _ := listed.Named(part[2], part[3])
			a.lists[workload.ID{Namespace: part[0], Kind: kind, Name: part[1]}] = true
		}
	}
	edits := gitops.Edits{
		Recurse: true, Folders: true,
		Fields: map[string]any{"namespace": s.TargetNamespace, "namePrefix": s.NamePrefix, "nameSuffix": s.NameSuffix,
			"components": s.Components, "patches": s.Patches, "images": s.Images},
	}
	a.builds = []Build{{By: a.by(), Dir: path.Clean("./" + s.Path), Edits: edits, source: from.source(s.SourceRef), origin: a.origins[0], kinds: kinds}}
	return a
}

// next parses a manifest from git as a Kustomization.
func (kustomization) next(object json.RawMessage, namespace string) (string, func(subject, map[string]string) *Finding) {
	var n kustomization
	if json.Unmarshal(object, &n) != nil || n.Kind != "Kustomization" {
		return "", nil
	}
	n.Metadata.Namespace = cmp.Or(n.Metadata.Namespace, namespace)
	return n.name(), n.keeps
}

// in returns the reference with its namespace. of is the namespace of its object.
func (s sourceRef) in(of string) sourceRef {
	s.Namespace = cmp.Or(s.Namespace, of)
	return s
}

// origin returns the git source of a reference with its namespace. from is the result of
// Cluster.repository.
func (s sourceRef) origin(from *gitRepository) origin {
	ref := s
	o := origin{is: fmt.Sprintf("%s %s/%s", ref.Kind, ref.Namespace, ref.Name), artifact: slices.Contains([]string{"OCIRepository", "Bucket"}, ref.Kind)}
	switch {
	case from != nil && from.Spec.URL != "":
		o.is, o.url = place(from.Spec.URL)+" ("+o.is+")", from.Spec.URL
		o.revision, o.fix = from.revision(), "set spec.ref: {branch: %s} in the source of %s. "+orBranch
		if from.artifact {
			o.resolved, o.fix = from.pushed, "push the tip of branch %s with \"flux push artifact\" to the source of %s"
		}
	case ref.Kind == "GitRepository":
		o.is += ", which does not exist"
	}
	return o
}

// revision returns the branch of a source, or the commit, name, semver range or tag that
// takes precedence. Flux uses the same order. An artifact has a commit only.
func (r gitRepository) revision() string {
	if r.artifact && r.pushed == "" {
		return "an unknown commit"
	}
	if r.artifact {
		return fmt.Sprintf("commit %.12s", r.pushed)
	}
	ref := r.Spec.Ref
	other := first(
		reason{ref.Commit != "", "commit " + ref.Commit},
		reason{ref.Name != "", ref.Name},
		reason{ref.SemVer != "", "semver " + ref.SemVer},
		reason{ref.Tag != "", "tag " + ref.Tag},
	)
	return cmp.Or(other, ref.Branch, "master")
}

// stopped returns the reason why Flux does not reconcile an object. "" means that Flux
// does: the object is ready or is progressing.
func (s fluxStatus) stopped(object metav1.ObjectMeta, suspended bool) string {
	ready := ptr.Deref(apimeta.FindStatusCondition(s.Conditions, "Ready"), metav1.Condition{})
	stalled := ptr.Deref(apimeta.FindStatusCondition(s.Conditions, "Stalled"), metav1.Condition{})
	return first(
		reason{object.DeletionTimestamp != nil, "it is being deleted"},
		reason{suspended, "it is suspended"},
		reason{ready.Type == "", "it has no status from Flux"},
		reason{stalled.Status == metav1.ConditionTrue, stalled.Reason + ": " + stalled.Message},
		reason{ready.Status != metav1.ConditionTrue && !strings.HasPrefix(ready.Reason, "Progressing"), ready.Reason + ": " + ready.Message},
		reason{s.ObservedGeneration < object.Generation, "Flux has not reconciled its last change"},
	)
}

// ssaAnnotation sets how Flux applies one object.
const ssaAnnotation = "kustomize.toolkit.fluxcd.io/ssa"

var ssaModes = map[string]string{
	"IfNotPresent": "Flux never updates the workload again, including its image",
	"Ignore":       "Flux never creates the workload, not even in a rebuild",
}

func (k kustomization) keeps(s subject, annotations map[string]string) *Finding {
	name := k.name()
	rule := fmt.Sprintf("{paths: [%s], target: {kind: %s}} to spec.ignore of %s", s.pointer(), s.object.Kind, name)
	if what, ok := ssaModes[annotations[ssaAnnotation]]; ok {
		return &Finding{SSA, s.ID.String(), fmt.Sprintf("The workload has the annotation %s: %s, so %s.", ssaAnnotation, annotations[ssaAnnotation], what),
			"remove the annotation, and add " + rule}
	}
	if slices.ContainsFunc(k.Spec.Ignore, func(r ignoreRule) bool { return r.ignores(s) }) {
		return nil
	}
	return &Finding{NoRule, s.ID.String(), fmt.Sprintf(unprotected+". %s applies the workload with its replicas, so each reconciliation sets the live replicas to the replica count in git.", name), "add " + rule + " (Flux 2.9)"}
}

// ignores reports whether a rule ignores the field of a subject.
func (r ignoreRule) ignores(s subject) bool {
	return slices.ContainsFunc(r.Paths, s.within) && r.matches(s)
}

// matches reports whether a rule matches a workload. A rule with an annotation selector
// does not match, because samples have no annotations.
func (r ignoreRule) matches(s subject) bool {
	if r.Target == nil {
		return true
	}
	o := s.object
	is := func(pattern, value string) bool {
		ok, err := regexp.MatchString("^(?:"+pattern+")$", value)
		return pattern == "" || err == nil && ok
	}
	t := r.Target
	selector, err := labels.Parse(t.LabelSelector)
	return err == nil && selector.Matches(labels.Set(s.labels)) && t.AnnotationSelector == "" &&
		is(t.Group, o.Group) && is(t.Version, o.Version) && is(t.Kind, o.Kind) && is(t.Namespace, s.ID.Namespace) && is(t.Name, s.ID.Name)
}
