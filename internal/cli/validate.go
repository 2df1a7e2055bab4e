package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

func newValidate(env Env) *cobra.Command {
	var o output[verdict]
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check Config, Policy and Fleet files",
		Long: `"gitlatch validate" checks files for errors, and prints every error with its
line and field. You can run the command in CI, because it needs no cluster and
no repository. To read from standard input, specify "-" as FILE.

Some checks of a policy depend on the site's tick period and repository host. If
you also specify the site's configuration file, the command uses its period and
host. Without a configuration file, the command assumes a period of 5m. The
assumed repository host supports pull requests.

Exit status:
  0  All files are valid.
  1  At least one file is not valid.
  2  The command could not read a file.`,
		Example: `  # Check a policy file
  gitlatch validate gitlatch.yaml

  # Check a policy file against a configuration, and print JSON
  gitlatch validate prod-eu.yaml gitlatch.yaml -o json`,
		Args: arguments(cobra.MinimumNArgs(1), "one or more files"),
		RunE: func(_ *cobra.Command, files []string) error {
			v, err := validate(env, files)
			if err = errors.Join(err, o.write(env, v)); err != nil {
				return err
			}
			return unless(v.Valid)
		},
	}
	o.register(c, verdict.Table, nil)
	return c
}

// A verdict contains the problems of files.
type verdict struct {
	term.Document
	Valid bool        `json:"valid"` // true if every file is valid
	Files []validated `json:"files"`
}

// A validated contains the problems of one file.
type validated struct {
	File     string            `json:"file"`
	Kind     string            `json:"kind,omitempty"` // "" if unknown to gitlatch
	Problems []yamldoc.Problem `json:"problems"`       // empty if the file is valid
}

// Table prints one line for each valid file and for each problem.
func (v verdict) Table(out io.Writer, s term.Style) error {
	for _, f := range v.Files {
		if len(f.Problems) == 0 {
			fmt.Fprintln(out, s.Verdict(true, f.File+": valid, of kind "+f.Kind))
		}
		for _, problem := range f.Problems {
			fmt.Fprintln(out, s.Verdict(false, problem.Error()))
		}
	}
	return nil
}

// validate checks the files. It reads every Config before it checks a Policy, because the
// policy depends on the Config. The error contains the files that could not be read.
func validate(env Env, files []string) (verdict, error) {
	v := verdict{Document: term.DocumentOf("Validation"), Valid: true, Files: []validated{}}
	period, noReview := defaultPeriod, false
	var unread []error
	texts := map[string][]byte{}
	for _, file := range files {
		name, text, err := env.read(file)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		kind, _ := config.ParseKind(name, text) // problems reports the error again
		v.Files = append(v.Files, validated{File: name, Kind: kind})
		texts[name] = text
		if c, err := config.ParseConfig(name, text); err == nil {
			period = c.Period
			noReview = !c.Repository.HasProposals()
		}
	}
	for i, f := range v.Files {
		v.Files[i].Problems = problems(f, texts[f.File], period, noReview)
		v.Valid = v.Valid && len(v.Files[i].Problems) == 0
	}
	return v, errors.Join(unread...)
}

// problems returns the problems of one file. noReview is true if the host of the site's
// repository has no pull requests.
func problems(f validated, text []byte, period time.Duration, noReview bool) []yamldoc.Problem {
	var err error
	all := []yamldoc.Problem{}
	switch f.Kind {
	case config.KindPolicy:
		var set policy.Set
		set, err = config.ParsePolicy(f.File, text, period)
		set.NoReview = noReview
		for _, p := range set.Unreviewed() {
			all = append(all, yamldoc.Problem{File: f.File, Path: p.Field, Text: p.Text})
		}
	case config.KindFleet:
		_, err = config.ParseFleet(f.File, text)
	case config.KindConfig:
		_, err = config.ParseConfig(f.File, text)
	default:
		_, err = config.ParseKind(f.File, text)
	}
	var found *yamldoc.Errors
	switch {
	case errors.As(err, &found):
		all = append(found.Problems, all...)
		if found.More > 0 {
			all = append(all, yamldoc.Problem{File: f.File, Text: fmt.Sprintf("and %d more", found.More)})
		}
	case err != nil:
		all = append(all, yamldoc.Problem{File: f.File, Text: err.Error()})
	}
	return all
}
