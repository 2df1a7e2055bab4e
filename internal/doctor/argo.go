package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An application is an Application of Argo CD, reduced to the fields that doctor reads.
type application struct {
	Kind     string            `json:"kind"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Source      *argoSource  `json:"source"`
		Sources     []argoSource `json:"sources"`
		Destination struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
		IgnoreDifferences []difference `json:"ignoreDifferences"`
		SyncPolicy        struct {
			SyncOptions []string `json:"syncOptions"`
		} `json:"syncPolicy"`
	} `json:"spec"`
	Status struct {
		Sync struct {
			Status    string   `json:"status"`
			Revision  string   `json:"revision"`
			Revisions []string `json:"revisions"` // one for each of spec.sources
		} `json:"sync"`
		Conditions     []metav1.Condition `json:"conditions"`
		OperationState struct {
			Phase   string `json:"phase"`
			Message string `json:"message"`
		} `json:"operationState"`
		Resources []struct {
			Group     string `json:"group"`
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"resources"`
		ControllerNamespace string `json:"controllerNamespace"`
	} `json:"status"`
	// system are the rules in the settings of the Argo CD that reconciles the
	// Application. They apply to all its Applications.
	system []difference
}

type argoSource struct {
	RepoURL        string `json:"repoURL"`
	TargetRevision string `json:"targetRevision"`
	Path           string `json:"path"`
	Chart          string `json:"chart"`
	Ref            string `json:"ref"`
	Directory      struct {
		Recurse bool   `json:"recurse"`
		Include string `json:"include"`
		Exclude string `json:"exclude"`
	} `json:"directory"`
	Kustomize map[string]any `json:"kustomize"`
	Helm      *struct {
		Values                  string          `json:"values"`
		ValuesObject            json.RawMessage `json:"valuesObject"`
		ValueFiles              []string        `json:"valueFiles"`
		IgnoreMissingValueFiles bool            `json:"ignoreMissingValueFiles"`
		ReleaseName             string          `json:"releaseName"`
		Namespace               string          `json:"namespace"`
		KubeVersion             string          `json:"kubeVersion"`
		APIVersions             []string        `json:"apiVersions"`
		Parameters              []struct {
			Name        string `json:"name"`
			Value       string `json:"value"`
			ForceString bool   `json:"forceString"`
		} `json:"parameters"`
		FileParameters []struct {
			Name string `json:"name"`
			Path string `json:"path"`
		} `json:"fileParameters"`
	} `json:"helm"`
}

type difference struct {
	Group                 string   `json:"group"`
	Kind                  string   `json:"kind"`
	Name                  string   `json:"name"`
	Namespace             string   `json:"namespace"`
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
}

func (a application) name() string {
	return fmt.Sprintf("Application %s/%s", a.Metadata.Namespace, a.Metadata.Name)
}

func (a application) sources() []argoSource {
	if a.Spec.Source == nil {
		return a.Spec.Sources
	}
	return append(slices.Clone(a.Spec.Sources), *a.Spec.Source)
}

func (a application) applier(c Cluster) applier {
	to := a.Spec.Destination
	by := applier{tool: ArgoCD, name: a.name(), lists: map[workload.ID]bool{}, keeps: a.keeps, next: a.next,
		stale: !slices.Contains(a.Spec.SyncPolicy.SyncOptions, outOfSync), server: to.Server, origins: a.origins(), stopped: a.stopped(),
		remedy: fmt.Sprintf("set gitops.destination: %q in the configuration", cmp.Or(to.Name, to.Server))}
	switch to.Name {
	case "":
	case ownName:
		by.server = ownServer
	default:
		by.server = named(to.Name)
	}
	for i, s := range a.sources() {
		if s.Path == "" && s.Chart == "" {
			continue // it has only values
		}
		b := Build{By: by.by(), Dir: path.Clean("./" + s.Path), Edits: s.edits(), Namespace: to.Namespace, origin: by.origins[i], kinds: c.Kinds,
			Include: s.Directory.Include, Exclude: s.Directory.Exclude}
		if len(s.Kustomize) == 0 {
			a.release(&b, c, i)
		}
		by.builds = append(by.builds, b)
	}
	listed := c.Kinds.With(gitops.Autoscalers)
	for _, r := range a.Status.Resources {
		kind, _ := listed.Named(r.Group, r.Kind)
		by.lists[workload.ID{Namespace: r.Namespace, Kind: kind, Name: r.Name}] = true
	}
	return by
}

// next parses a manifest from git as an Application of the same Argo CD.
func (a application) next(object json.RawMessage, namespace string) (string, func(subject, map[string]string) *Finding) {
	n := application{system: a.system}
	if json.Unmarshal(object, &n) != nil || n.Kind != "Application" {
		return "", nil
	}
	n.Metadata.Namespace = cmp.Or(n.Metadata.Namespace, namespace)
	return n.name(), n.keeps
}

// The destination of an Argo CD's own cluster: its server and its name. A Secret of Argo
// CD defines every other name, so doctor does not trust those.
const (
	ownServer = "https://kubernetes.default.svc"
	ownName   = "in-cluster"
)

// origins returns the git sources of an Application, in the order of sources.
func (a application) origins() (all []origin) {
	seen := a.Status.Sync.Revisions
	if len(seen) == 0 {
		seen = []string{a.Status.Sync.Revision}
	}
	for i, s := range a.sources() {
		o := origin{url: s.RepoURL, is: cmp.Or(place(s.RepoURL), "no repository"), revision: cmp.Or(s.TargetRevision, head), fix: "set targetRevision: %s in the source of %s. " + orBranch}
		if o.revision == head && i < len(seen) {
			o.resolved = seen[i]
		}
		all = append(all, o)
	}
	return all
}

// stopped returns the reason why Argo CD does not reconcile an Application. "" means that
// it does.
func (a application) stopped() string {
	for _, c := range a.Status.Conditions {
		if strings.HasSuffix(c.Type, "Error") { // other types are warnings
			return c.Type + ": " + c.Message
		}
	}
	sync := a.Status.Sync.Status
	last := a.Status.OperationState
	to := a.Spec.Destination
	skips, _ := strconv.ParseBool(a.Metadata.Annotations[skipAnnotation])
	return first(
		reason{a.Metadata.DeletionTimestamp != nil, "it is being deleted"},
		reason{skips, "its annotation " + skipAnnotation + " makes Argo CD skip it"},
		reason{(to.Server == "") == (to.Name == ""), "its destination must have either a server or a name"},
		reason{sync == "", "it has no sync status from Argo CD"},
		reason{sync == "Unknown", "its sync status is Unknown"},
		reason{sync == "OutOfSync" && (last.Phase == "Failed" || last.Phase == "Error"), "its last sync ended as " + last.Phase + ": " + last.Message},
	)
}

// skipAnnotation makes Argo CD skip an Application.
const skipAnnotation = "argocd.argoproj.io/skip-reconcile"

func (s argoSource) edits() gitops.Edits {
	e := gitops.Edits{Recurse: s.Directory.Recurse, Fields: map[string]any{}}
	for _, field := range []string{"namespace", "namePrefix", "nameSuffix", "components", "patches", "replicas"} {
		e.Fields[field] = s.Kustomize[field]
	}
	return e
}

// syncAnnotation contains sync options of one object. Argo CD reads respect only from the
// options of the Application.
const (
	syncAnnotation = "argocd.argoproj.io/sync-options"
	respect        = "RespectIgnoreDifferences=true"
	outOfSync      = "ApplyOutOfSyncOnly=true"
)

func (a application) keeps(s subject, annotations map[string]string) *Finding {
	own := lists.Map(strings.Split(annotations[syncAnnotation], ","), strings.TrimSpace) // options of the workload
	options, o := a.Spec.SyncPolicy.SyncOptions, s.object
	rule := fmt.Sprintf("{group: %s, kind: %s, jsonPointers: [%s]}", o.Group, o.Kind, s.pointer())
	option := fmt.Sprintf("add %s to spec.syncPolicy.syncOptions of %s", respect, a.name())
	ignores, groupless := false, false
	for _, d := range slices.Concat(a.Spec.IgnoreDifferences, a.system) {
		if !d.ignores(s) || !d.matches(s.ID, o) {
			continue
		}
		ignores, groupless = ignores || matched(d.Group, o.Group), groupless || d.Group == ""
	}
	switch {
	case !ignores && groupless:
		return &Finding{RuleWithoutGroup, s.ID.String(), fmt.Sprintf(unprotected+". The ignoreDifferences rule of %s has no group, so it matches no object.", a.name()),
			fmt.Sprintf("replace the rule without a group in spec.ignoreDifferences of %s with %s", a.name(), rule)}
	case !ignores:
		fix := fmt.Sprintf("add %s to spec.ignoreDifferences of %s", rule, a.name())
		if !slices.Contains(options, respect) {
			fix = fmt.Sprintf("add %s to spec.ignoreDifferences and %s to spec.syncPolicy.syncOptions of %s", rule, respect, a.name())
		}
		return &Finding{NoRule, s.ID.String(), fmt.Sprintf(unprotected+". %s applies the workload with its replicas, so each sync sets the live replicas to the replica count in git.", a.name()), fix}
	case !slices.Contains(options, respect) && slices.Contains(own, respect):
		return &Finding{OptionNotRead, s.ID.String(), fmt.Sprintf(unprotected+". %s is in the annotation %s of the workload, but Argo CD does not read this option there.", respect, syncAnnotation), option}
	case !slices.Contains(options, respect):
		return &Finding{NotRespected, s.ID.String(), fmt.Sprintf(unprotected+". %s ignores the replicas when it compares objects, but not when it syncs them.", a.name()), option}
	}
	return nil
}

// ignores reports whether a rule matches the replicas of a workload: by their field, by a
// parent of the field, or by the manager that last wrote the field.
func (d difference) ignores(s subject) bool {
	return slices.ContainsFunc(d.JSONPointers, s.within) ||
		slices.ContainsFunc(d.JQPathExpressions, func(jq string) bool { return s.within(pointerOf(jq)) }) ||
		s.sample != nil && s.sample.Scale != nil && s.sample.Scale.Writer != "" && slices.Contains(d.ManagedFieldsManagers, s.sample.Scale.Writer)
}

// step matches one field name on the path of a jq expression.
var step = regexp.MustCompile(`\.?\["[^"]+"\]|\."[^"]+"|\.[A-Za-z0-9_-]+`)

// pointerOf returns a jq expression that is only a path as a JSON pointer.
func pointerOf(jq string) string {
	return step.ReplaceAllStringFunc(jq, func(name string) string { return pointer(strings.Trim(name, `.[]"`)) })
}

// pointer returns the JSON pointer of a field by the names on its path.
func pointer(names ...string) (at string) {
	for _, name := range names {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return at
}

// matches reports whether a rule matches a workload. It does not compare the group.
func (d difference) matches(id workload.ID, o workload.Object) bool {
	return matched(d.Kind, o.Kind) && (d.Name == "" || d.Name == id.Name) && (d.Namespace == "" || d.Namespace == id.Namespace)
}
