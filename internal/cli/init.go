package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/wiring"
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
cluster. The file kustomization.yaml lists the checkpoint files of the site and
is empty at first. The policy file explains each field and shows every default.
The command also adds an empty Component for each namespace that contains
workloads for which the policy allows levels.

By default, the mode of a new site is observe, and gitlatch writes no levels.
With --mode latch, gitlatch writes levels from the first tick.

"gitlatch init" does not change existing files. To add missing files, run the
command again.

With --aws, the command prepares the deployment on AWS instead. It asks up to
six questions, and reads the cluster, the network and the secret with your AWS
credentials. Then it writes samconfig.toml and the configuration of the site,
and lists the permissions that you do not have. The command changes nothing on
AWS. Run it in a clone of the repository of gitlatch.`,
		Example: `  # Print the files without a commit
  gitlatch init --dry-run -c prod-eu.yaml

  # Commit the files
  gitlatch init -c prod-eu.yaml

  # Try gitlatch on a copy of a repository
  gitlatch init --mode latch --repository fleet.git

  # Prepare the deployment on AWS
  gitlatch init --aws`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: timed(longest, func(ctx context.Context, _ []string) error {
			if onAWS {
				return i.prepare(ctx, env)
			}
			return i.run(ctx, env)
		}),
	}
	i.register(c, env)
	i.aws.register(c)
	c.Flags().BoolVar(&onAWS, "aws", false, "prepare the deployment of the site on AWS")
	c.Flags().BoolVar(&i.dryRun, "dry-run", false, "print the files and commit nothing")
	c.Flags().StringVar(&i.mode, "mode", config.ModeObserve, "mode to set in a new policy file: observe or latch")
	offer(c, "mode", config.Modes())
	i.output.register(c, begun.Table, nil)
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
	Site   string            `json:"site"`
	DryRun bool              `json:"dryRun"`
	Commit string            `json:"commit,omitempty"` // "" if no file is missing
	Files  map[string]string `json:"files"`            // by path from the root of the repository
	next   string            // the next steps
}

// Table prints the files of a dry run, or the commit and the next steps.
func (b begun) Table(out io.Writer, _ term.Style) error {
	if len(b.Files) == 0 {
		fmt.Fprintf(out, "site %s has all of its first files: nothing to do\n", b.Site)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		if b.DryRun {
			fmt.Fprintf(out, "--- %s\n%s", name, b.Files[name])
		}
	}
	fmt.Fprint(out, b.next)
	return nil
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
	namespaces := latchable(git.set, fleet)
	files := checkpoint.Begin(git.tree, checkpoint.Site{Name: c.Site, Cluster: fleet.Cluster, Kinds: fleet.Kinds}, namespaces)
	git.tell(env)
	latches := git.set.Latch
	switch {
	case git.source == nil:
		files[c.Repository.PolicyFile] = config.ExamplePolicy(c.Period, i.mode)
		latches = i.mode == config.ModeLatch
	case i.mode == config.ModeLatch && !latches:
		return fmt.Errorf("--mode: the site has a policy file already; set \"mode: latch\" in %s", c.Repository.PolicyFile)
	case git.gone != "":
		files[c.Repository.PolicyFile] = git.source
	}
	for _, unread := range fleet.Unread {
		fmt.Fprintf(env.Err, "could not be listed: %s. \"gitlatch init\" skips namespaces that have only such workloads\n", unread)
	}
	b := begun{Document: term.DocumentOf("Beginning"), Site: c.Site, DryRun: i.dryRun, Files: map[string]string{}}
	for name, content := range files {
		b.Files[name] = string(content)
	}
	if len(files) == 0 || i.dryRun {
		return i.output.write(env, b)
	}
	b.Commit, err = parts.Repository.Commit(ctx, repo.Commit{Parent: git.at,
		Files: files, Message: firstMessage(c.Site, files), When: env.Clock()})
	if errors.Is(err, repo.ErrMoved) {
		return errors.New("init: the branch moved before the push. Run init again")
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	b.next = i.next(b.Commit, c, files, namespaces, latches, old(ctx, from))
	return i.output.write(env, b)
}

// latchable returns the namespaces with workloads that the policy latches.
func latchable(set policy.Set, fleet workload.Fleet) []string {
	found := map[string]bool{}
	for _, s := range fleet.Samples {
		if _, _, latched := set.Choose(s); latched && checkpoint.Fits(s.ID) == nil {
			found[s.ID.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func firstMessage(site string, files map[string][]byte) string {
	return fmt.Sprintf("init(%s): add the first files of the site\n\n%s\n\nGitlatch-Site: %s\n",
		site, strings.Join(slices.Sorted(maps.Keys(files)), "\n"), site)
}

// old reports whether the API server runs a version without admission policies. It is
// false if the version is unknown.
func old(ctx context.Context, from *wiring.Opener) bool {
	objects, _, err := open.Objects(ctx, from)
	if err != nil {
		return false
	}
	minor, err := objects.Minor(ctx)
	return err == nil && doctor.Old(minor)
}

// next returns the text about the commit, its files and the next steps. latches is true
// if the site's policy writes levels, and old if the cluster has no admission policies.
func (f *flags) next(id string, c config.Config, files map[string][]byte, namespaces []string, latches, old bool) string {
	rule := "\n  gitlatch render admission%s\n      prints the policy that protects live replica counts (Kubernetes 1.36 or\n      later). Commit the output to a folder that your GitOps tool applies before\n      the workloads. For the rules of Flux and Argo CD, see\n      \"gitlatch help flux\" and \"gitlatch help argocd\"\n"
	if old {
		rule = "\n  gitlatch render flux --patch%[1]s\n  gitlatch render argocd --patch%[1]s\n      prints the fields that protect live replica counts. Add the fields to your\n      Flux Kustomization or your Argo CD Application\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "commit %s\n", id)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "  %s\n", name)
	}
	flag := ""
	switch {
	case f.file != "":
		flag = " --config " + f.file
	case f.repository != "":
		flag = " --repository " + f.repository
	}
	if latches {
		fmt.Fprintf(&b, "\n%s sets \"mode: latch\".\nTicks write levels to git.\n", c.Repository.PolicyFile)
	} else {
		fmt.Fprintf(&b, "\ngitlatch only observes the site.\nTo start writing levels, set \"mode: latch\" in %s.\n", c.Repository.PolicyFile)
	}
	b.WriteString("\nNext steps:\n")
	fmt.Fprintf(&b, rule, flag)
	fmt.Fprintf(&b, "  gitlatch doctor%s\n      lists problems of a rebuild, and the rules that protect live replicas\n", flag)
	ticks := "samples the cluster and prints the level changes"
	if latches {
		ticks = "samples the cluster and commits the level changes"
	}
	if kept(c.State) == nil {
		fmt.Fprintf(&b, "  gitlatch tick%s\n      %s.\n      Run this command once every period (%s)\n", flag, ticks, policy.Span(c.Period))
	}
	if len(namespaces) == 0 {
		return b.String()
	}
	if old {
		b.WriteString("\nA rebuild uses the levels only if the overlay of each namespace includes the\nComponent of the namespace.")
	} else {
		fmt.Fprintf(&b, "\nA rebuild uses the levels only if your GitOps tool applies the checkpoint files,\nsuch as %s, before the workloads.\nIf you do not apply the admission policy, add the Component of each namespace to\nthe overlay of the namespace.",
			checkpoint.RecordPath(c.Site, namespaces[0]))
	}
	fmt.Fprintf(&b, " For example, edit apps/%s/kustomization.yaml:\n\n  components: [../../%s]\n",
		namespaces[0], path.Dir(checkpoint.ComponentPath(c.Site, namespaces[0])))
	return b.String()
}
