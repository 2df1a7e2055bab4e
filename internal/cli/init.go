package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func newInit(env Env) *cobra.Command {
	var i beginning
	var onAWS bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Commit the first files of a site",
		Long: `"gitlatch init" samples the cluster once and commits the first files of the
site. The file site.yaml contains the name of the site and the UID of the
cluster. The policy file contains the mode of the site. The folder
checkpoints/admission contains the admission policy for all sites. The admission
policy raises the replicas of each new workload to its level.

By default, a new site has the mode "observe", in which gitlatch writes no
levels. With --mode latch, gitlatch can write levels as soon as you start ticks.

After you upgrade gitlatch, run "gitlatch init" again. Also run the command
after you change the field "kinds" or "admission" in the policy file. The
command then updates the admission policy in a separate commit and changes no
other file. If the admission policy is up to date, the command makes no commit.

With -o flux or -o argocd, the command prints objects for Flux or Argo CD. The
objects make the tool apply the admission policy and the levels to the cluster.
The objects also include the RBAC roles for the custom kinds in the policy. With
-o rbac, the command prints only these RBAC roles. With these formats, the
command commits nothing.

With --aws, "gitlatch init" prepares a deployment on AWS and commits nothing.
The command asks up to five questions. Your AWS credentials let the command read
the EKS cluster, its VPC and its subnets. Then the command writes samconfig.toml
and the configuration of the site. The output explains how to store the git
credential. The command changes nothing on AWS. Run "gitlatch init --aws" in a
clone of the gitlatch repository.`,
		Example: `  # Print the files without a commit
  gitlatch init --dry-run -c prod-eu.yaml

  # Commit the files
  gitlatch init -c prod-eu.yaml

  # Print the objects for Flux
  gitlatch init -c prod-eu.yaml -o flux >gitlatch-prod-eu.yaml

  # Try gitlatch on a copy of a repository
  gitlatch init --mode latch --repository fleet.git

  # Prepare the deployment on AWS
  gitlatch init --aws`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: timed(longest, func(ctx context.Context, _ []string) error {
			if onAWS {
				return i.prepare(ctx, env)
			}
			i.dryRun = i.dryRun || slices.Contains([]string{"flux", "argocd", "rbac"}, i.output.chosen)
			return i.run(ctx, env)
		}),
	}
	i.register(c, env)
	i.aws.register(c)
	c.Flags().BoolVar(&onAWS, "aws", false, "prepare the deployment of the site on AWS")
	c.Flags().BoolVar(&i.dryRun, "dry-run", false, "print the files and commit nothing")
	c.Flags().StringVar(&i.mode, "mode", config.ModeObserve, "mode to set in a new policy file: observe or latch")
	offer(c, "mode", config.Modes())
	i.output.register(c, begun.Table, map[string]form[begun]{
		"flux":   begun.Flux,
		"argocd": begun.ArgoCD,
		"rbac":   begun.RBAC,
	})
	for _, other := range []string{"mode", "output", "kubeconfig", "context"} {
		c.MarkFlagsMutuallyExclusive("aws", other)
	}
	return c
}

// beginning contains the flags of init.
type beginning struct {
	flags
	dryRun bool
	mode   string
	output output[begun]
	aws    preparation
}

// prepare prepares the deployment on AWS. The flags --repository, --site and --config have
// the same names in both forms of init.
func (i *beginning) prepare(ctx context.Context, env Env) error {
	i.aws.env, i.aws.dryRun = env, i.dryRun
	i.aws.file = i.file
	i.aws.given.Site, i.aws.given.Repository = i.site, i.repository
	return i.aws.run(ctx)
}

// A begun is the result of init. In a dry run, the files are not committed.
type begun struct {
	term.Document
	Site    string            `json:"site"`
	DryRun  bool              `json:"dryRun"`
	Commits []string          `json:"commits"` // empty if git has all files
	Files   map[string]string `json:"files"`   // by path from the root of the repository
	next    string            // the next steps
	url     string            // of the repository, for a cluster
	branch  string
	kinds   workload.Kinds
}

// Table prints the files of a dry run, or the commits and the next steps.
func (b begun) Table(out io.Writer, _ term.Style) error {
	if len(b.Files) == 0 {
		fmt.Fprintf(out, "git has all files of site %s: nothing to do\n", b.Site)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		if b.DryRun {
			fmt.Fprintf(out, "--- %s\n%s", name, b.Files[name])
		}
	}
	fmt.Fprint(out, b.next)
	return nil
}

// Flux prints the objects of the site for Flux, and the roles for its custom kinds.
func (b begun) Flux(out io.Writer, _ term.Style) error {
	return written(slices.Concat(admission.Flux(b.Site), kindRights(b.Site, b.kinds)), nil)(out)
}

// ArgoCD prints the objects of the site for Argo CD, and the roles for its custom kinds.
func (b begun) ArgoCD(out io.Writer, _ term.Style) error {
	return written(slices.Concat(admission.ArgoCD(b.Site, b.url, b.branch), kindRights(b.Site, b.kinds)), nil)(out)
}

// RBAC prints the roles for the custom kinds of the site.
func (b begun) RBAC(out io.Writer, _ term.Style) error {
	if len(b.kinds) == 0 {
		return written([]byte("# The policy has no custom kinds, so the roles in infra/rbac are enough.\n"), nil)(out)
	}
	return written(kindRights(b.Site, b.kinds), nil)(out)
}

// A change is one commit of init. Its files are by path from the root of the repository.
type change struct {
	subject string
	files   map[string][]byte
}

func (i *beginning) run(ctx context.Context, env Env) (err error) {
	if !slices.Contains(config.Modes(), i.mode) {
		return fmt.Errorf("--mode: must be one of %s, got %q", strings.Join(config.Modes(), ", "), i.mode)
	}
	c, err := i.config()
	if err != nil {
		return err
	}
	from := opener(env, c, true)
	from.ReadOnly = i.dryRun
	parts, err := openBy(ctx, env, from)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	git := declaredSide{config: c, repository: parts.Repository}
	if err := git.readTip(ctx); err != nil {
		return err
	}
	fleet, err := parts.Sampler.Sample(ctx, git.set.Kinds)
	if err != nil {
		return err
	}
	files := checkpoint.Begin(git.tree, checkpoint.Site{Name: c.Site, Cluster: fleet.Cluster, Kinds: fleet.Kinds})
	git.tell(env)
	latches := git.set.Latch
	switch {
	case git.source == nil:
		files[c.Repository.PolicyFile] = config.ExamplePolicy(i.mode)
		latches = i.mode == config.ModeLatch
	case i.mode == config.ModeLatch && !latches:
		return fmt.Errorf("--mode: the site has a policy file already; set \"mode: latch\" in %s", c.Repository.PolicyFile)
	case git.gone != "":
		files[c.Repository.PolicyFile] = git.source
	}
	want, present, err := git.admission(ctx)
	if err != nil {
		return err
	}
	updated := map[string][]byte{}
	switch {
	case len(present) == 0:
		files[admission.Path] = want
	case !bytes.Equal(present, want):
		updated[admission.Path] = want
	}
	tellUnraised(env, git.set.Kinds)
	b := begun{
		Document: term.DocumentOf("Beginning"), Site: c.Site, DryRun: i.dryRun, Commits: []string{}, Files: map[string]string{},
		url: cmp.Or(c.Repository.Address(), placeholder), branch: c.Repository.Branch, kinds: git.set.Kinds,
	}
	for _, change := range []change{
		{"add the first files of the site", files},
		{"update the admission policy", updated},
	} {
		for name, content := range change.files {
			b.Files[name] = string(content)
		}
		if len(change.files) == 0 || i.dryRun {
			continue
		}
		git.at, err = parts.Repository.Commit(ctx, repo.Commit{Parent: git.at,
			Files: change.files, Message: change.message(git.set.Subject, c.Site), When: env.Clock()})
		if errors.Is(err, repo.ErrMoved) {
			return errors.New("init: the branch moved before the push. Run init again")
		}
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		b.Commits = append(b.Commits, git.at)
		b.next += fmt.Sprintf("commit %s\n  %s\n", git.at, strings.Join(slices.Sorted(maps.Keys(change.files)), "\n  "))
	}
	switch {
	case i.output.chosen != "argocd":
	case b.url == placeholder:
		fmt.Fprintf(env.Err, "A cluster cannot read the repository at %s. Before you apply the output, replace %s with a URL that the cluster can reach\n", c.Repository.URL, placeholder)
	case c.Repository.OnThisMachine():
		fmt.Fprintf(env.Err, "%s is an address of this machine. If Argo CD cannot reach this address, replace it in the output\n", b.url)
	}
	if !i.dryRun {
		b.next += i.next(c, latches, len(git.set.Kinds) > 0)
	}
	return i.output.write(env, b)
}

// placeholder replaces the path of a local repository, which no cluster can read.
const placeholder = "https://git.example.com/platform/fleet.git"

// admission returns the file of the admission policy that git should have, and the file that
// it has; nil if it has no such file.
func (s *declaredSide) admission(ctx context.Context) (want, present []byte, err error) {
	objects, err := s.repository.Read(ctx, s.at, nil, admission.Path)
	if err != nil {
		return nil, nil, err
	}
	present = objects[admission.Path].Files[admission.Path]
	joined, err := admission.Policy{Kinds: s.set.Kinds, Images: s.set.Images}.Over(present)
	if err != nil {
		return nil, nil, err
	}
	want, err = joined.Format()
	return want, present, err
}

// tellUnraised prints a warning for each custom kind that no admission policy can raise.
func tellUnraised(env Env, kinds workload.Kinds) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if o := kinds[kind]; !admission.Raises(o) {
			fmt.Fprintf(env.Err, "kinds[%s].replicas: the admission policy cannot set %s. After a rebuild, \"gitlatch restore\" raises the %s\n", kind, o.Replicas, o.FullResource())
		}
	}
}

// message returns the message of the commit. The template of its subject is of the policy.
func (c change) message(template, site string) string {
	subject := ledger.FillSubject(template, site, c.subject)
	return fmt.Sprintf("%s\n\n%s\n\nGitlatch-Site: %s\n", subject, strings.Join(slices.Sorted(maps.Keys(c.files)), "\n"), site)
}

// next returns the next steps of a site. latches is true if its policy writes levels, and
// kinds if it has custom kinds.
func (f *flags) next(c config.Config, latches, kinds bool) string {
	flag := ""
	switch {
	case f.file != "":
		flag = " --config " + f.file
	case f.repository != "":
		flag = " --repository " + f.repository
	}
	var b strings.Builder
	verb := "prints"
	if latches {
		verb = "commits"
		fmt.Fprintf(&b, "\n%s sets \"mode: latch\".\nTicks write levels to git.\n", c.Repository.PolicyFile)
	} else {
		fmt.Fprintf(&b, "\ngitlatch only observes the site.\nTo start writing levels, set \"mode: latch\" in %s.\n", c.Repository.PolicyFile)
	}
	fmt.Fprintf(&b, `
Next steps:
  %[2]s
      This command applies the admission policy and the levels. Run it now in
      a clone of the repository, and again for each new cluster before you
      install Flux or Argo CD. The command requires Kubernetes 1.36 or later.
  gitlatch init -o flux%[1]s
  gitlatch init -o argocd%[1]s
      These commands print objects that make Flux or Argo CD apply both
      folders. Commit the output to a folder that the tool already applies.
`, flag, admission.Bootstrap(c.Site))
	if kinds {
		fmt.Fprintf(&b, "  gitlatch init -o rbac%s\n      This command prints the RBAC roles for custom kinds. The objects for\n      Flux and Argo CD include these roles.\n", flag)
	}
	fmt.Fprintf(&b, "  gitlatch doctor%s\n      This command lists the problems that a rebuild would have.\n", flag)
	if kept(c.State) == nil {
		fmt.Fprintf(&b, "  gitlatch tick%s\n      This command samples the cluster and %s the level changes. Run it\n      every %s.\n", flag, verb, policy.Span(c.Period))
	}
	b.WriteString("\nIf your Kubernetes version is older than 1.36, start \"gitlatch restore --wait\"\nbefore your GitOps tool in each new cluster. See \"gitlatch help apply\".\n")
	return b.String()
}
