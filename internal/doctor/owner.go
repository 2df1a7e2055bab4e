package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The kinds of objects that apply manifests: of Flux and of Argo CD.
const (
	kustomizationKind = "Kustomization"
	releaseKind       = "HelmRelease"
	applicationKind   = "Application"
)

// A ref names an object of a tool. The zero value names no object.
type ref struct{ kind, namespace, name string }

// String returns the reference as findings show it. The namespace of an Application is ""
// if the object that names it does not have the namespace.
func (r ref) String() string {
	if r.namespace == "" {
		return r.kind + " " + sanitize.Line(r.name)
	}
	return fmt.Sprintf("%s %s/%s", r.kind, sanitize.Line(r.namespace), sanitize.Line(r.name))
}

// A tool is an object of Flux or Argo CD that applies manifests, reduced to the fields that
// the tools have in common: whether it is suspended, ready and syncs without a user.
type tool struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Suspend   bool `json:"suspend"`
		DependsOn []struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"dependsOn"`
		Ignore     []json.RawMessage `json:"ignore"` // of Flux
		SyncPolicy struct {
			Automated *struct {
				Enabled *bool `json:"enabled"`
			} `json:"automated"`
			SyncOptions []string `json:"syncOptions"`
		} `json:"syncPolicy"`
	} `json:"spec"`
	Status struct {
		Conditions     []condition `json:"conditions"`
		OperationState struct {
			Phase      string      `json:"phase"`
			FinishedAt metav1.Time `json:"finishedAt"`
		} `json:"operationState"`
		// The objects of the last apply: of a Kustomization, and of an Application. An object
		// of the latter that git has no longer requires pruning.
		Inventory *struct {
			Entries []struct {
				ID string `json:"id"`
			} `json:"entries"`
		} `json:"inventory"`
		Resources []struct {
			Group           string `json:"group"`
			Kind            string `json:"kind"`
			Namespace       string `json:"namespace"`
			Name            string `json:"name"`
			RequiresPruning bool   `json:"requiresPruning"`
		} `json:"resources"`
	} `json:"status"`

	ref ref
}

// A condition is a condition of a tool's object. The conditions of an Application have no
// status: each is an error or a warning.
type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	Reason             string      `json:"reason"`
	Message            string      `json:"message"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// mayIgnore returns the field that lets the object ignore fields of manifests; "" if it
// ignores none.
func (t tool) mayIgnore() string {
	switch {
	case slices.Contains(t.Spec.SyncPolicy.SyncOptions, "RespectIgnoreDifferences=true"):
		return respected
	case len(t.Spec.Ignore) > 0:
		return "spec.ignore"
	}
	return ""
}

// manual reports whether the object is an Application that a user syncs.
func (t tool) manual() bool {
	automated := t.Spec.SyncPolicy.Automated
	return t.ref.kind == applicationKind && (automated == nil || automated.Enabled != nil && !*automated.Enabled)
}

// unready returns the reason why the object is not ready; "" if it is.
func (t tool) unready() (why string, at metav1.Time) {
	if t.ref.kind == applicationKind {
		phase := t.Status.OperationState.Phase
		broken, failed := lists.First(t.Status.Conditions, func(c condition) bool { return strings.HasSuffix(c.Type, "Error") })
		switch {
		case failed:
			return sanitize.Line(broken.Type + ": " + broken.Message), broken.LastTransitionTime
		case phase == "Succeeded":
			return "", t.Status.OperationState.FinishedAt
		case phase == "":
			return "it has no sync yet", metav1.Time{}
		}
		return "its last sync is " + sanitize.Line(phase), t.Status.OperationState.FinishedAt
	}
	ready, found := lists.First(t.Status.Conditions, func(c condition) bool { return c.Type == "Ready" })
	switch {
	case !found:
		return "it has no condition Ready", metav1.Time{}
	case ready.Status != "True":
		return sanitize.Line("Ready is " + ready.Status + ": " + ready.Reason), ready.LastTransitionTime
	}
	return "", ready.LastTransitionTime
}

// forgets reports whether the last apply did not have an object, which is named by the text that
// Argo CD tracks it by: git has its manifest no longer, and the tool does not prune it. It is
// false if the tool does not list its objects, like a HelmRelease.
func (t tool) forgets(self string) bool {
	group, rest, _ := strings.Cut(self, "/")
	kind, rest, _ := strings.Cut(rest, ":")
	namespace, name, _ := strings.Cut(rest, "/")
	if t.Status.Inventory != nil {
		id := strings.Join([]string{namespace, name, group, kind}, "_")
		for _, e := range t.Status.Inventory.Entries {
			if e.ID == id {
				return false
			}
		}
		return true
	}
	for _, r := range t.Status.Resources {
		if r.Group == group && r.Kind == kind && r.Name == name && (r.Namespace == namespace || namespace == "") {
			return r.RequiresPruning
		}
	}
	return t.Status.Resources != nil
}

// wave returns the sync wave of an object of Argo CD.
func wave(meta metav1.ObjectMeta) int {
	n, _ := strconv.Atoi(meta.Annotations["argocd.argoproj.io/sync-wave"]) // Argo CD also uses 0 for other text
	return n
}

// Tools are the objects that apply manifests, of the cluster and of its hub.
type tools struct {
	all    []tool
	unread map[string]string // the reason, by kind
}

// add adds an object of a kind from JSON.
func (t *tools) add(kind string, data []byte) error {
	var one tool
	err := json.Unmarshal(data, &one)
	one.ref = ref{kind, one.Metadata.Namespace, one.Metadata.Name}
	t.all = append(t.all, one)
	return err
}

// find returns the object that a reference names.
func (t tools) find(r ref) (tool, bool) {
	return lists.First(t.all, func(one tool) bool {
		return one.ref.kind == r.kind && one.ref.name == r.name && (r.namespace == "" || one.ref.namespace == r.namespace)
	})
}

// owner returns the object that applies an object, by the labels and annotations that the
// tools set. self is the text that Argo CD tracks the object by: "apps/Deployment:shop/web".
func (t tools) owner(meta metav1.ObjectMeta, self string) (ref, bool) {
	for _, flux := range []struct{ kind, prefix string }{
		{releaseKind, "helm.toolkit.fluxcd.io/"},
		{kustomizationKind, "kustomize.toolkit.fluxcd.io/"},
	} {
		if name := meta.Labels[flux.prefix+"name"]; name != "" {
			return ref{flux.kind, meta.Labels[flux.prefix+"namespace"], name}, true
		}
	}
	if app, object, ok := strings.Cut(meta.Annotations["argocd.argoproj.io/tracking-id"], ":"); ok && same(object, self) {
		namespace, name, apart := strings.Cut(app, "_")
		if !apart {
			return ref{applicationKind, "", app}, true
		}
		return ref{applicationKind, namespace, name}, true
	}
	byLabel := ref{applicationKind, "", meta.Labels["app.kubernetes.io/instance"]}
	if app, found := t.find(byLabel); found && writtenBy(meta, "argocd-") {
		return app.ref, true
	}
	return ref{}, false
}

// same reports whether two texts that Argo CD tracks objects by name one object. The text of an
// object without a namespace has the namespace of its Application's destination.
func same(object, self string) bool {
	kind, name, _ := strings.Cut(self, ":/")
	return object == self || name != "" && strings.HasPrefix(object, kind+":") && strings.HasSuffix(object, "/"+name)
}

// tracked returns the text that Argo CD tracks an object by.
func tracked(group, kind, namespace, name string) string {
	return fmt.Sprintf("%s/%s:%s/%s", group, kind, namespace, name)
}

// A link is an object in a chain of owners.
type link struct {
	tool
	missing bool // the cluster does not have the object
	forgets bool // its last apply did not have the object that it owns
}

// deepest is the maximum length of a chain of owners.
const deepest = 10

// chain returns the owner of an object, the owner of this owner, and so on.
func (t tools) chain(meta metav1.ObjectMeta, self string) (all []link) {
	for range deepest {
		r, owned := t.owner(meta, self)
		if !owned || slices.ContainsFunc(all, func(l link) bool { return l.ref == r }) {
			return all
		}
		one, found := t.find(r)
		if !found {
			return append(all, link{tool: tool{ref: r}, missing: true})
		}
		if slices.ContainsFunc(all, func(l link) bool { return l.ref == one.ref }) {
			return all // the root Kustomization of Flux applies itself
		}
		all = append(all, link{tool: one, forgets: one.forgets(self)})
		meta = one.Metadata
		self = tracked(groups[one.ref.kind], one.ref.kind, one.ref.namespace, one.ref.name)
	}
	return all
}

// groups are the API groups of the tools' objects.
var groups = map[string]string{
	kustomizationKind: "kustomize.toolkit.fluxcd.io",
	releaseKind:       "helm.toolkit.fluxcd.io",
	applicationKind:   "argoproj.io",
}

// runs answers whether each object of a chain exists, is not suspended, syncs without a user and
// is ready. The chain has at least one object.
func (t tools) runs(chain []link) Answer {
	var evidence []Evidence
	for _, l := range chain {
		why, at := l.unready()
		name := l.ref.String()
		switch {
		case l.missing && t.unread[l.ref.kind] != "":
			return Open(NotRead, fmt.Sprintf("%ss could not be read: %s", l.ref.kind, t.unread[l.ref.kind]), remedy(t.unread[l.ref.kind]))
		case l.missing:
			return Open(OwnerMissing, name+" does not exist in the cluster, but the object has its labels", "create "+name+" again, or remove the labels. If Argo CD runs in another cluster, set gitops in the configuration to that cluster")
		case l.forgets:
			return Open(OwnerMissing, name+" applied the object before, but its last apply did not have it", "add the manifest to git again, or delete the object", Evidence{Object: name, Field: "status"})
		case l.Spec.Suspend:
			return Open(OwnerSuspended, name+" is suspended (spec.suspend: true)", "set spec.suspend: false in "+name, Evidence{Object: name, Field: "spec.suspend", Value: "true"})
		case l.manual():
			return Open(OwnerManual, name+" applies manifests only when a user syncs it", "add automated: {} to spec.syncPolicy of "+name, Evidence{Object: name, Field: "spec.syncPolicy.automated"})
		case why != "":
			return Open(OwnerNotReady, fmt.Sprintf("%s is not ready (%s)", name, why), "correct the cause, and reconcile "+name+" again", Evidence{Object: name, Field: "status", At: at.Time, Value: why})
		}
		evidence = append(evidence, Evidence{Object: name, Field: "status", At: at.Time, Value: "ready"})
	}
	return Shows(chain[0].ref.String()+" applies the object, and is ready", evidence...)
}

// selfOf returns the text that Argo CD tracks a workload by.
func selfOf(id workload.ID, o workload.Object) string {
	return tracked(o.Group, o.Kind, id.Namespace, id.Name)
}

// respected is the field that lets an Application ignore replicas.
const respected = "the sync option RespectIgnoreDifferences"
