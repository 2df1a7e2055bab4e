package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/cli/setup"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/atomicfile"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	samExample  = "infra/samconfig.toml"
	samSettings = "samconfig.toml"
)

// A preparation is a run of init --aws.
type preparation struct {
	env    Env
	dryRun bool
	file   string // of the configuration; "" is SITE.yaml
	given  setup.Answers
	input  *bufio.Reader
	page   *term.Page
}

// registerAWS adds the flags of init --aws.
func (p *preparation) register(c *cobra.Command) {
	c.Flags().StringVar(&p.given.Cluster, "cluster", "", "with --aws: name of the EKS cluster")
	c.Flags().StringVar(&p.given.Credential, "credential", "", "with --aws: name of the secret with the git credential (default gitlatch/git)")
	c.Flags().StringVar(&p.given.AlertEmail, "alert-email", "", "with --aws: e-mail `address` for alerts (default none)")
}

// A question asks for one answer.
type question struct {
	flag   string
	text   string
	answer *string
	or     string // default answer; may be ""
	valid  func(string) bool
	want   string // valid answers
	// optional is true if the answer may be empty.
	optional bool
	// secret is true if the answer may contain a secret by mistake: an error does not show it.
	secret bool
}

func matches(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

// aboutTheSite returns the first questions. earlier has the answers of an earlier run.
func (p *preparation) aboutTheSite(earlier setup.Answers) []question {
	a := &p.given
	return []question{
		{flag: "cluster", text: "EKS cluster", answer: &a.Cluster, or: earlier.Cluster,
			valid: matches(`^[0-9A-Za-z][-_0-9A-Za-z]{0,99}$`), want: "the name of an EKS cluster, such as prod-eu-blue"},
		{flag: "site", text: "Site, which keeps its name when you replace the cluster", answer: &a.Site, or: earlier.Site,
			valid: func(text string) bool { return workload.ValidLabel(text) && config.WrongSite(text) == nil }, want: "a DNS label other than admission, such as prod-eu"},
		{flag: "repository", secret: true, text: "URL of the git repository", answer: &a.Repository, or: earlier.Repository,
			valid: func(text string) bool { _, err := setup.HostOf(text); return err == nil },
			want:  "the https or ssh URL of a repository, such as https://github.com/example/fleet"},
	}
}

// aboutTheHost returns the other questions, which depend on the location of the repository.
func (p *preparation) aboutTheHost(earlier setup.Answers, host repo.Host) (all []question) {
	a := &p.given
	if host.Kind != repo.CodeCommit {
		all = append(all, question{flag: "credential", secret: true, text: "Secret with the git credential", answer: &a.Credential, or: cmp.Or(earlier.Credential, "gitlatch/git"),
			valid: matches(`^[-/_+=.@0-9A-Za-z]{1,512}$`), want: "the name of a secret, not its ARN"})
	}
	return append(all, question{flag: "alert-email", text: "E-mail address for alerts, or empty", answer: &a.AlertEmail, or: earlier.AlertEmail, optional: true,
		valid: matches(`^[^@ ,"]+@[^@ ,"]+$`), want: "an e-mail address"})
}

// ask completes the answers: by flags, by the user, or by the answers of an earlier run.
func (p *preparation) ask(ctx context.Context, earlier setup.Answers, aws setup.AWS) error {
	site := p.answer(ctx, p.aboutTheSite(earlier), aws)
	host, err := setup.HostOf(p.given.Repository)
	if err != nil {
		return site // has the error about the repository
	}
	if host.Kind == repo.CodeCommit {
		p.given.Credential = "" // the function logs in with its role
	}
	return errors.Join(site, p.answer(ctx, p.aboutTheHost(earlier, host), aws))
}

// answer completes the answers to some of the questions.
func (p *preparation) answer(ctx context.Context, questions []question, aws setup.AWS) error {
	var wrong wrongs
	asks := tty.Terminal(p.env.In)
	for _, q := range questions {
		if *q.answer == "" && asks {
			if err := p.question(ctx, q, aws); err != nil {
				return err
			}
		}
		*q.answer = cmp.Or(*q.answer, q.or)
		switch {
		case *q.answer == "":
			wrong.unless(q.optional, "--%s is required, because the standard input is not a terminal: set it to %s", q.flag, q.want)
		case q.secret:
			wrong.unless(q.valid(*q.answer), "--%s: must be %s, without a password or a token", q.flag, q.want)
		default:
			wrong.unless(q.valid(*q.answer), "--%s: must be %s, got %q", q.flag, q.want, *q.answer)
		}
	}
	return errors.Join(wrong...)
}

// question asks one question until the answer is valid.
func (p *preparation) question(ctx context.Context, q question, aws setup.AWS) error {
	switch {
	case q.flag == "cluster" && q.or == "":
		names, err := aws.Clusters(ctx)
		list := cmp.Or(strings.Join(names, ", "), "none")
		if err != nil {
			list = "unknown: " + err.Error()
		}
		if len(names) == 1 {
			q.or = names[0]
		}
		fmt.Fprintf(p.env.Err, "EKS clusters in %s: %s\n", aws.Region(), list)
	case q.flag == "site" && q.or == "" && workload.ValidLabel(p.given.Cluster):
		q.or = p.given.Cluster
	}
	for {
		fmt.Fprintf(p.env.Err, "%s [%s]: ", q.text, q.or)
		line, err := p.input.ReadString('\n')
		if err != nil {
			return fmt.Errorf("--%s: read the answer: %w", q.flag, err)
		}
		*q.answer = cmp.Or(strings.TrimSpace(line), q.or)
		if *q.answer == "" && q.optional || q.valid(*q.answer) {
			return nil
		}
		fmt.Fprintf(p.env.Err, "The answer must be %s.\n", q.want)
	}
}

// run prepares the deployment.
func (p *preparation) run(ctx context.Context) error {
	own, err := opener(p.env, config.Config{}, true).In(ctx, "init --aws", "")
	if err != nil {
		return err
	}
	aws := setup.New(own)
	p.input = bufio.NewReader(p.env.In)
	p.page = term.NewPage(tty.StyleFor(p.env.Out, p.env.Getenv))
	example, err := os.ReadFile(samExample)
	if err != nil {
		return fmt.Errorf("%w. Run \"gitlatch init --aws\" in a clone of the repository of gitlatch", err)
	}
	present, err := os.ReadFile(samSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.ask(ctx, setup.Earlier(present), aws); err != nil {
		return err
	}
	facts, err := aws.Read(ctx, p.given)
	if err != nil {
		return err
	}
	p.page.Say("", "site %s: EKS cluster %s in %s", p.given.Site, p.given.Cluster, facts.Region)
	kept, err := p.files(example, facts)
	if err != nil {
		return err
	}
	for _, problem := range facts.Problems {
		p.page.Line("")
		p.page.Say("", "%s", problem.Text)
		p.page.Fix("  ", problem.Fix)
	}
	var open []string
	if n := len(facts.Problems); n > 0 {
		open = append(open, term.Count(n, "problem"))
	}
	if kept {
		open = append(open, "a file that you edited")
	}
	p.next(open, facts.Region)
	if err := p.page.Print(p.env.Out); err != nil {
		return err
	}
	return unless(len(open) == 0)
}

// files writes the two files, and reports whether it kept a file with a user's edits.
func (p *preparation) files(example []byte, facts setup.Facts) (kept bool, err error) {
	settings, err := setup.Samconfig(example, setup.Parameters(facts, p.given))
	if err != nil {
		return false, err
	}
	site, err := setup.Config(facts, p.given)
	if err != nil {
		return false, err
	}
	facts.Table = ""
	before, err := setup.Config(facts, p.given)
	if err != nil {
		return false, err
	}
	p.page.Line("")
	for _, file := range []struct {
		name            string
		content, before []byte // before is the content of an earlier run
	}{
		{samSettings, settings, settings},
		{p.configFile(), site, before},
	} {
		own, err := p.store(file.name, file.content, file.before)
		if err != nil {
			return kept, err
		}
		kept = kept || own
	}
	return kept, nil
}

func (p *preparation) configFile() string { return cmp.Or(p.file, p.given.Site+".yaml") }

// store writes a file, unless it has other content than an earlier run wrote.
func (p *preparation) store(name string, content, before []byte) (kept bool, err error) {
	present, err := os.ReadFile(name)
	verb := "updated"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		verb = "created"
	case err != nil:
		return false, err
	case bytes.Equal(present, content):
		p.page.Line("  unchanged  %s", name)
		return false, nil
	case !bytes.Equal(present, before):
		p.page.Line("  kept       %s", name)
		p.page.Say("    ", "The file has other content than \"gitlatch init --aws\" writes. gitlatch did not change it:")
		p.differences(present, content)
		p.page.Fix("    ", "to replace your edits, delete the file and run the command again")
		return true, nil
	}
	p.page.Line("  %-9s  %s", verb, name)
	if p.dryRun {
		p.page.Line("%s", content)
		return false, nil
	}
	return false, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), atomicfile.Write(name, content))
}

// differences prints the lines that only one of two texts has.
func (p *preparation) differences(present, next []byte) {
	old, other := strings.Split(string(present), "\n"), strings.Split(string(next), "\n")
	for _, line := range old {
		if !slices.Contains(other, line) {
			p.page.Line("    - %s", line)
		}
	}
	for _, line := range other {
		if !slices.Contains(old, line) {
			p.page.Line("    + %s", line)
		}
	}
}

// next prints the next steps. open are the results that prevent the status 0.
func (p *preparation) next(open []string, region string) {
	p.page.Line("\nNext steps:")
	if len(open) > 0 {
		p.page.Line("  gitlatch init --aws")
		p.page.Say("      ", "Run this command again after you resolve these points: %s.", strings.Join(open, ", "))
	}
	if host, err := setup.HostOf(p.given.Repository); err == nil && p.given.Credential != "" {
		p.page.Line("  aws secretsmanager create-secret --region %s --name %s --secret-string file://credential", region, p.given.Credential)
		p.page.Say("      ", "This command stores the git credential. The file credential contains %s.", setup.SecretContent(host))
	}
	file := p.configFile()
	p.page.Line("  gitlatch init --mode latch --config %s", file)
	p.page.Say("      ", "This command commits the first files, and lists the commands for your GitOps tool.")
	p.page.Line("  kubectl kustomize infra/rbac")
	p.page.Say("      ", "This command prints the RBAC roles of the function. Commit the output to a folder that your GitOps tool applies.")
	p.page.Line("  gitlatch doctor --config %s\n  sam build && sam deploy", file)
}
