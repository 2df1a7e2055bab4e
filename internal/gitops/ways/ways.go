// Package ways holds the manifests that keep checkpoints inert: applied where a
// workload is created, and left alone where it runs. There is one for each of
// Argo CD and Flux, and one that needs neither.
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

// A Place is what the manifests name.
type Place struct {
	Site       string
	Repository string // URL, as the tool in the cluster reaches it
	Branch     string
	Name       string // of the tool's object
	Path       string // folder of the kustomization that includes the Components
	// Namespaces are those that the rules are narrowed to; none is all.
	Namespaces []string
	Kinds      workload.Kinds // those that the rules are about
	// Writers are the users that may write checkpoint files, as the API server names
	// them: "system:serviceaccount:flux-system:kustomize-controller". See ValidWriter.
	Writers []string
}

// Checkpoints is the folder of the site's checkpoints.
func (p Place) Checkpoints() string { return checkpoint.Directory(p.Site) }

// A Target is what one rule is about.
type Target struct{ Group, Kind, Namespace, Pointer string }

// Targets are the rules: one for each kind that has replicas, in each namespace
// where the place is narrowed to some.
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

// Raised are the kinds that the admission policy raises: those that have their
// count where the policy puts it.
func (p Place) Raised() map[workload.Kind]workload.Object { return p.counted(true) }

// Elsewhere are the kinds with a count that the admission policy leaves alone.
func (p Place) Elsewhere() map[workload.Kind]workload.Object { return p.counted(false) }

// counted are the kinds that have their count where the policy puts it, or those
// that have it elsewhere.
func (p Place) counted(there bool) map[workload.Kind]workload.Object {
	all := map[workload.Kind]workload.Object{}
	for _, kind := range p.Kinds.All() {
		if o, _ := p.Kinds.Object(kind); kind.Scales() && there == (o.Replicas == workload.Replicas) {
			all[kind] = o
		}
	}
	return all
}

// ArgoCD returns an Application that keeps the counts of a live cluster.
func ArgoCD(p Place) []byte { return render("argocd.tmpl", p) }

// ArgoCDFields returns the fields that an Application which exists needs.
func ArgoCDFields(p Place) []byte { return render("argocd-fields.tmpl", p) }

// Flux returns a GitRepository and a Kustomization that keeps the counts of a
// live cluster.
func Flux(p Place) []byte { return render("flux.tmpl", p) }

// FluxFields returns the fields that a Kustomization which exists needs.
func FluxFields(p Place) []byte { return render("flux-fields.tmpl", p) }

// Admission returns the policy that raises what is created to its checkpoint.
func Admission(p Place) []byte { return render("admission.tmpl", p) }

// Images returns the policy that has what is created during a rollout begin
// with the template that it would return to. It begins with a separator, to
// follow Admission.
func Images(p Place) []byte { return render("images.tmpl", p) }

// Writers returns the policy that lets only the writers of the place write
// checkpoint files. It begins with a separator, to follow Admission.
func Writers(p Place) []byte { return render("writers.tmpl", p) }

var writer = regexp.MustCompile(`^[-_.:/@#+=,~%0-9A-Za-z]{1,253}$`)

// ValidWriter reports whether a policy can name the user as a writer. A quote or a
// space would end the name early.
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
		panic(fmt.Sprintf("ways: render %s: %v", name, err)) // the texts are part of the program
	}
	return b.Bytes()
}
