// Package ways renders manifests that protect live replicas: a GitOps tool or an
// admission policy then sets a level when it creates a workload, and does not change live
// replicas. One method is for Argo CD, one is for Flux, and one works with any tool.
package ways

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"text/template"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Place is the input of the manifests.
type Place struct {
	Site       string
	Repository string // the URL that the tool in the cluster uses
	Branch     string
	Name       string // the name of the tool's object
	Path       string // the folder of the kustomization that includes the Components
	// Namespaces limits the rules to these namespaces. If it is empty, the rules apply to
	// every namespace.
	Namespaces []string
	Kinds      workload.Kinds // the kinds of the rules
	// Writers are the users that may write checkpoint files, as the API server names
	// them, for example "system:serviceaccount:flux-system:kustomize-controller". See
	// ValidWriter.
	Writers []string
}

// Checkpoints returns the folder of the site's checkpoint files.
func (p Place) Checkpoints() string { return checkpoint.Directory(p.Site) }

// A Target is the input of one ignore rule.
type Target struct{ Group, Kind, Namespace, Pointer string }

// Targets returns one target for each kind with replicas. If the place is limited to
// namespaces, it returns one for each kind in each namespace.
func (p Place) Targets() []Target {
	namespaces := p.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var targets []Target
	for _, namespace := range namespaces {
		for _, kind := range p.Kinds.All() {
			if o, _ := p.Kinds.Object(kind); kind.Scales() {
				targets = append(targets, Target{o.Group, o.Kind, namespace, o.Replicas.Pointer()})
			}
		}
	}
	return targets
}

// Raised returns the kinds for which the admission policy sets the level: their replicas
// are at .spec.replicas.
func (p Place) Raised() map[workload.Kind]workload.Object { return p.counted(true) }

// Elsewhere returns the kinds with replicas in another field, which the admission policy
// does not change.
func (p Place) Elsewhere() map[workload.Kind]workload.Object { return p.counted(false) }

// counted returns the kinds that have their replicas at .spec.replicas, or else the kinds
// that have them in another field.
func (p Place) counted(there bool) map[workload.Kind]workload.Object {
	all := map[workload.Kind]workload.Object{}
	for _, kind := range p.Kinds.All() {
		if o, _ := p.Kinds.Object(kind); kind.Scales() && there == (o.Replicas == workload.Replicas) {
			all[kind] = o
		}
	}
	return all
}

// ArgoCD returns an Application that does not change live replicas.
func ArgoCD(p Place) []byte { return render("argocd.tmpl", p) }

// ArgoCDFields returns the fields to add to an existing Application.
func ArgoCDFields(p Place) []byte { return render("argocd-fields.tmpl", p) }

// Flux returns a GitRepository and a Kustomization that does not change live replicas.
func Flux(p Place) []byte { return render("flux.tmpl", p) }

// FluxFields returns the fields to add to an existing Kustomization.
func FluxFields(p Place) []byte { return render("flux-fields.tmpl", p) }

// Admission returns the policy that sets the replicas of a new workload to its level, and
// its binding.
func Admission(p Place) []byte { return render("admission.tmpl", p) }

// Images returns the policy that sets the images of a workload that is created during a
// rollout to the template in its entry. It starts with a separator, to follow Admission.
func Images(p Place) []byte { return render("images.tmpl", p) }

// Writers returns the policy that allows only the writers of the place to write
// checkpoint files. It starts with a separator, to follow Admission.
func Writers(p Place) []byte { return render("writers.tmpl", p) }

var writer = regexp.MustCompile(`^[-_.:/@#+=,~%0-9A-Za-z]{1,253}$`)

// ValidWriter reports whether a policy can name the user as a writer. A quote or a space
// would end the name early.
func ValidWriter(user string) bool { return writer.MatchString(user) }

//go:embed *.tmpl
var files embed.FS

type binding struct {
	Policy     string
	Namespaces []string
}

var texts = template.Must(template.New("").Funcs(template.FuncMap{
	"quote":   strconv.Quote,
	"binding": func(p Place, policy string) binding { return binding{policy, p.Namespaces} },
}).ParseFS(files, "*.tmpl"))

func render(name string, p Place) []byte {
	var b bytes.Buffer
	if err := texts.ExecuteTemplate(&b, name, p); err != nil {
		panic(fmt.Sprintf("ways: render %s: %v", name, err)) // the templates are part of the binary
	}
	return b.Bytes()
}
