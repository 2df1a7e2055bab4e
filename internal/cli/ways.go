package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
)

func newArgoCD(env Env, f *flags) *cobra.Command {
	return newTool(env, f, "argocd", "Print an Argo CD Application with the protection rule",
		`"gitlatch render argocd" prints an Argo CD Application for the kustomization of
the site. With this Application, Argo CD applies spec.replicas only when it
creates a workload, and ignores spec.replicas of a running workload.

For an existing Application, use --patch to print only the fields to add. On
Kubernetes 1.36 or later, use "gitlatch render admission" instead. For an
example, see infra/gitops/argocd.`, ways.ArgoCD, ways.ArgoCDFields)
}

func newFlux(env Env, f *flags) *cobra.Command {
	return newTool(env, f, "flux", "Print a Flux Kustomization with the protection rule",
		`"gitlatch render flux" prints a Flux GitRepository and a Flux Kustomization for
the site. With this Kustomization, Flux applies spec.replicas only when it
creates a workload, and ignores spec.replicas of a running workload.

For an existing Kustomization, use --patch to print only the field to add. The
Kustomization requires Flux 2.9 or later.`, ways.Flux, ways.FluxFields)
}

// newTool returns a command that prints the manifests for one GitOps tool: an object, or
// the fields for an existing object.
func newTool(env Env, f *flags, tool, short, long string, object, fields func(ways.Place) []byte) *cobra.Command {
	var s source
	var t targets
	var patch bool
	c := &cobra.Command{
		Use:     tool + " [NAMESPACE...]",
		Short:   short,
		Long:    long + narrowed,
		Example: "  gitlatch render " + tool + " -c prod-eu.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			from, print := &s, object
			if patch {
				from, print = nil, fields
			}
			place, err := f.place(env, t, args, from)
			if err != nil {
				return err
			}
			_, err = env.Out.Write(print(place))
			return err
		},
	}
	c.Flags().BoolVar(&patch, "patch", false, "print only the fields to add to an existing Application or Kustomization")
	s.register(c)
	t.registerNames(c, f, "namespace that the manifests apply to", t.offered)
	for _, of := range []string{"name", "path", "url"} { // an existing object has its own values
		c.MarkFlagsMutuallyExclusive("patch", of)
	}
	return c
}

const narrowed = "\n\nIf you list namespaces, the manifests apply only to workloads in these\nnamespaces. Each namespace must have a Component in git. To create Components,\nrun \"gitlatch init\"."

func newAdmission(env Env, f *flags) *cobra.Command {
	var images bool
	var writers []string
	var t targets
	c := &cobra.Command{
		Use:   "admission [NAMESPACE...]",
		Short: "Print an admission policy for replicas of new workloads",
		Long: `"gitlatch render admission" prints a MutatingAdmissionPolicy and its binding.
When a tool or a user creates a workload, the policy raises the replicas of the
workload to its level. The policy reads the level from the checkpoint file of
the namespace. The admission policy does not change running workloads.

The admission policy requires Kubernetes 1.36 or later. For earlier versions,
use "gitlatch render flux" or "gitlatch render argocd". Apply the checkpoint
files before the workloads. If the API server cannot read the checkpoint file of
a namespace, it creates the workloads of this namespace with the replicas in
their manifests.

With --writer, the command also prints a ValidatingAdmissionPolicy that allows
only the given users to write checkpoint files. With --writer, include the user
of the GitOps tool that applies the checkpoint files. By default, Flux and Argo
CD apply manifests as these Kubernetes users:

  Flux     system:serviceaccount:flux-system:kustomize-controller
  Argo CD  system:serviceaccount:argocd:argocd-application-controller` + narrowed,
		Example: "  gitlatch render admission -c prod-eu.yaml | kubectl apply -f -",
		RunE: func(_ *cobra.Command, args []string) error {
			var wrong wrongs
			wrong.unless(len(writers) > 0 || !images, "--images requires --writer. Otherwise anyone who may write ConfigMaps can choose an image")
			for _, user := range writers {
				wrong.unless(ways.ValidWriter(user), "--writer: must be the name of a user without spaces and quotes, as \"kubectl auth whoami\" prints it, got %q", user)
			}
			if err := errors.Join(wrong...); err != nil {
				return err
			}
			place, err := f.place(env, t, args, nil)
			if err != nil {
				return err
			}
			text := ways.Admission(place)
			if images {
				text = slices.Concat(text, ways.Images(place))
			}
			if len(writers) > 0 {
				place.Writers = writers
				text = slices.Concat(text, ways.Writers(place))
			}
			_, err = env.Out.Write(text)
			return err
		},
	}
	t.registerNames(c, f, "namespace that the manifests apply to", t.offered)
	c.Flags().BoolVar(&images, "images", false, "also print an admission policy that sets the old images in created workloads while a rollout is unfinished (requires --writer)")
	c.Flags().StringArrayVar(&writers, "writer", nil, "`user` who may write checkpoint files (repeatable, default all users with permission to write ConfigMaps)")
	return c
}

// place returns the input of the site's manifests, with the kinds of its policy. It
// returns an error if git has no Component of a namespace in args. from has the
// repository in the cluster; nil leaves it out.
func (f *flags) place(env Env, t targets, args []string, from *source) (place ways.Place, err error) {
	if place.Namespaces, err = t.namespaces(args); err != nil {
		return place, err
	}
	c, err := f.config()
	if err == nil && from != nil {
		err = from.fill(&place, c)
	}
	if err != nil {
		return place, err
	}
	git, err := f.declaredOf(env, c)
	if err != nil {
		return place, err
	}
	place.Site, place.Kinds = c.Site, git.set.Kinds
	known := slices.Sorted(maps.Keys(git.tree.Records))
	for _, namespace := range place.Namespaces {
		if !slices.Contains(known, namespace) {
			return place, undeclared(namespace, known)
		}
	}
	return place, nil
}

// undeclared returns the error for a namespace without checkpoint files. It lists the
// namespaces that have them.
func undeclared(namespace string, namespaces []string) error {
	elsewhere := ", or in any other namespace yet"
	if len(namespaces) > 0 {
		elsewhere = "; namespaces with levels: " + strings.Join(namespaces, ", ")
	}
	return fmt.Errorf("namespace %s: git has no level in it%s", namespace, elsewhere)
}
