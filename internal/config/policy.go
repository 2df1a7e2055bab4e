package config

import (
	"math"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// DefaultPolicy returns the policy of a site without a policy file. period is the time
// between ticks in the site's Config.
func DefaultPolicy(period time.Duration) policy.Set {
	set := policy.DefaultSet()
	set.Default.Name = defaultName
	set.Subject = ledger.DefaultSubject
	set.Guards.Period = period
	set.Guards.DropWithin = max(set.Guards.DropWithin, period)
	return set
}

// ParsePolicy parses a document of kind Policy. Omitted fields have the values of its
// preset and of DefaultPolicy. Errors are *yamldoc.Errors, which start with name and list
// every problem.
func ParsePolicy(name string, data []byte, period time.Duration) (policy.Set, error) {
	doc := newPolicyDocument(period)
	if err := read(name, data, document(KindPolicy, doc.fields())); err != nil {
		return policy.Set{}, err
	}
	doc.set.Latch = doc.mode == ModeLatch
	for _, rule := range doc.rules {
		doc.set.Rules = append(doc.set.Rules, *rule)
	}
	return doc.set, nil
}

// defaultName is the name in reports of the policy for workloads that no item of policies
// matches.
const defaultName = "default"

// The modes of a site. A site in mode observe does not write to git.
const (
	ModeObserve = "observe"
	ModeLatch   = "latch"
)

// Modes returns all modes, the default first.
func Modes() []string { return []string{ModeObserve, ModeLatch} }

// A policyDocument is the state of reading a policy file.
type policyDocument struct {
	mode  string
	base  policy.Policy // the file's preset, the start of each policy
	rules []*policy.Rule
	set   policy.Set
}

func newPolicyDocument(period time.Duration) *policyDocument {
	set := DefaultPolicy(period)
	return &policyDocument{mode: ModeObserve, base: set.Default, set: set}
}

// fields returns the table of a Policy document. A preset comes before the fields that
// override it, and kinds come before the policies that match them.
func (d *policyDocument) fields() yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Optional("mode", "mode of the site; in mode observe, gitlatch reports level changes; in mode latch, gitlatch commits level changes to git",
			yamldoc.Into(&d.mode, yamldoc.Word(Modes()...))),
		yamldoc.Optional("preset", "preset that supplies the values of the fields that a policy does not set",
			preset(d)),
		yamldoc.Optional("kinds", "custom kinds with a scale subresource; gitlatch samples objects of these kinds in addition to the built-in kinds", kindList(&d.set.Kinds)),
		yamldoc.Optional("admission", "settings for the admission policy that `gitlatch init` writes; all sites of a repository share this admission policy", yamldoc.Fields(
			yamldoc.Optional("images", "whether a workload that is created during a rollout starts with the old images, if its rollout entry selects the old template", yes(&d.set.Images)),
			yamldoc.Optional("first", "your statement that the bootstrap of a new cluster applies the levels before the workloads; gitlatch cannot observe this", yes(&d.set.First)),
		)),
		yamldoc.Optional("commit", "settings for the commits and pull requests that gitlatch creates", yamldoc.Fields(
			yamldoc.Optional("subject", "template for the subject of commits and the title of pull requests, with the placeholders `{{.Site}}` and `{{.Changes}}`", subject(&d.set.Subject)),
		)),
		yamldoc.Optional("policies", "list of policies; for each workload, gitlatch uses the first policy whose match selects the workload; the last policy may have an empty match, which selects all other workloads", items(&d.rules, d.ruleFields)),
		yamldoc.Optional("commitsPerDay", "maximum number of commits that gitlatch creates for the site per day; urgent raises do not wait for this budget", whole(&d.set.Guards.CommitsPerDay)),
	).With(yamldoc.Rule{Check: d.check})
}

// ruleFields returns the table of a policy. The policy starts with the file's preset.
func (d *policyDocument) ruleFields(rule *policy.Rule) yamldoc.Object {
	rule.Policy, rule.Policy.Name = d.base, ""
	head := []yamldoc.Field{
		yamldoc.Required("name", "name of the policy; reports and the annotation gitlatch.dev/policy identify the policy by this name", yamldoc.Into(&rule.Policy.Name, yamldoc.Label)),
		yamldoc.Required("match", "conditions that select the workloads of this policy; an empty match selects every workload that no earlier policy selects", matchFields(&rule.Match, d.set.Kinds)),
	}
	return yamldoc.Fields(append(head, policyFields(&rule.Policy)...)...)
}

var (
	nameOrPattern = yamldoc.Text(`^[-a-z0-9.*?\[\]^]+$`, "a name in lower case, or a pattern with *, ? or [a-z]")
	labelValue    = yamldoc.Text(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`, "a complete label value, at most 63 letters, digits, -, _ and .")

	modes   = yamldoc.Word(policy.Modes()...)
	presets = yamldoc.Word(policy.PresetNames()...)
	rounds  = yamldoc.Word(policy.Roundings()...)
)

// subject binds the template of a subject.
func subject(into *string) yamldoc.Scalar {
	const text = `[^\s\x00-\x1f\x7f]`
	form := yamldoc.Text("^"+text+`([^\x00-\x1f\x7f]*`+text+")?$", "one line of at most 100 characters, such as "+ledger.DefaultSubject).AtMost(100)
	s := yamldoc.Into(into, form, ledger.CheckSubject)
	s.Holds = strconv.Quote(*into)
	return s
}

func matchFields(m *policy.Match, kinds workload.Kinds) yamldoc.Object {
	const all = "leave the field out for all"
	return yamldoc.Fields(
		yamldoc.Optional("namespaces", "list of namespaces or namespace patterns, such as team-*; patterns never match the namespace kube-system", texts(&m.Namespaces, all, nameOrPattern, wrongPattern)),
		yamldoc.Optional("names", "list of workload names or name patterns, such as worker-*", texts(&m.Names, all, nameOrPattern, wrongPattern)),
		yamldoc.Optional("kinds", "list of workload kinds, such as deployment", texts(&m.Kinds, all, kindName(kinds))),
		yamldoc.Optional("labels", "labels of the workloads; the policy selects only workloads that have all of these labels", pairs(&m.Labels, labelValue)),
	)
}

// kindName is the form of a kind of the site. The schema allows any label, because it
// cannot check the kinds that the policy lists.
func kindName(kinds workload.Kinds) yamldoc.Form {
	f := yamldoc.Word(kinds.All()...)
	f.Must += ", or one that kinds of the policy names"
	f.Schema = schema{"anyOf": []any{f.Schema, schema{"type": "string", "pattern": workload.LabelShape}}}
	return f
}

// preset binds the preset of a file. A policy that needs other values sets its fields, so it has
// no preset.
func preset(d *policyDocument) yamldoc.Scalar {
	s := yamldoc.Taken(presets, func(name string) {
		d.base = policy.Presets()[name]
		d.set.Default = d.base
		d.set.Default.Name = defaultName
	})
	s.Holds = policy.DefaultSet().Default.Name
	return s
}

// series binds a series: the name of a series, or a list of levels.
func series(into *policy.Series) yamldoc.List {
	var levels []int32
	take := func(r *yamldoc.Reader, path string) {
		if r.Failed(path) {
			return
		}
		found, err := policy.ListSeries(levels)
		if err != nil {
			r.Report(path, "%s", err)
			return
		}
		*into = found
	}
	form := yamldoc.Word(policy.SeriesNames()...)
	form.Must += ", or a list of levels"
	return yamldoc.List{Must: "a list of numbers", Holds: into.String(),
		Or: yamldoc.Parsed(into, form, "", policy.ParseSeries),
		Item: func() yamldoc.Value {
			levels = append(levels, 0)
			return level(&levels[len(levels)-1])
		},
		Rules: []yamldoc.Rule{{Check: take, Schema: schema{"minItems": 1, "uniqueItems": true}}},
	}
}

func level(into *int32) yamldoc.Scalar {
	return integer(into, "an integer of at most 2147483647", math.MinInt32, math.MaxInt32, schema{"minimum": 1, "maximum": math.MaxInt32})
}

// policyFields returns the fields of one policy, without the fields that select its
// workloads.
func policyFields(p *policy.Policy) []yamldoc.Field {
	return []yamldoc.Field{
		yamldoc.Optional("series", "series of possible levels; the value is the name of a built-in series or a list of numbers", series(&p.Series)),
		yamldoc.Optional("round", "method that gitlatch uses to round the desired replicas to a level", yamldoc.Into(&p.Round, rounds)),
		yamldoc.Optional("hold", "stabilization windows for level changes", yamldoc.Fields(
			yamldoc.Optional("up", "number of samples in a row whose desired replicas must round to a higher level before gitlatch raises the level", whole(&p.HoldUp)),
			yamldoc.Optional("down", "time below the threshold before a level falls with the next commit, or alone after twice the time; 0 is as fast as a raise", span(&p.HoldDown, 0)),
		)),
		yamldoc.Optional("margin", "percentage by which the desired replicas must be below the threshold before gitlatch lowers a level", share(&p.Margin)),
		yamldoc.Optional("review", "whether gitlatch opens a pull request for a surge, or commits the surge directly; a surge is a level change to more than 10 times the level in git", yes(&p.Review)),
		yamldoc.Optional("scale", "whether gitlatch writes the level of a workload to git, only reports the level, or ignores the workload", yamldoc.Into(&p.Scale, modes)),
		yamldoc.Optional("bounds", "whether gitlatch writes changed minimum and maximum replicas to git, only reports changes, or ignores changes", yamldoc.Into(&p.Bounds, modes)),
		yamldoc.Optional("rollout", "settings for rollouts that are in progress", yamldoc.Fields(
			yamldoc.Optional("mode", "whether gitlatch writes rollout entries to git, only reports the entries, or ignores rollouts", yamldoc.Into(&p.Rollout, modes)),
			yamldoc.Optional("after", "time that a rollout must be in progress before gitlatch writes a rollout entry; a failed rollout gets an entry immediately", span(&p.RolloutAfter, 0)),
			yamldoc.Optional("progressDeadline", "maximum time until the next pod of a rollout is available; a slower rollout counts as failed until it is healthy for this time", span(&p.ProgressDeadline, 0)),
			yamldoc.Optional("cut", "progress in percent that a rollout must have in two healthy samples in a row before a rebuild uses the new template", percent(&p.Cut)),
		)),
		yamldoc.Optional("undriven", "whether gitlatch also latches workloads without an autoscaler", yes(&p.Undriven)),
	}
}
