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
		yamldoc.Optional("mode", "mode of the site; `observe` only reports level changes, and `latch` commits them to git",
			yamldoc.Into(&d.mode, yamldoc.Word(Modes()...))),
		yamldoc.Optional("preset", "preset that supplies the defaults for fields omitted from a policy",
			preset(d)),
		yamldoc.Optional("kinds", "custom kinds with a scale subresource, which gitlatch samples in addition to the built-in kinds", kindList(&d.set.Kinds)),
		yamldoc.Optional("admission", "settings for the admission policy that `gitlatch init` writes for all sites of a repository", yamldoc.Fields(
			yamldoc.Optional("images", "lets the admission policy set the images of the old pod template in a new workload; the workload's rollout entry in git must select this template", yes(&d.set.Images)),
			yamldoc.Optional("first", "your confirmation that the bootstrap applies the levels before the workloads; needed only if gitlatch cannot determine the order", yes(&d.set.First)),
		)),
		yamldoc.Optional("commit", "settings for the commits and pull requests that gitlatch creates", yamldoc.Fields(
			yamldoc.Optional("subject", "template for commit subjects and pull request titles; the placeholders are `{{.Site}}` and `{{.Changes}}`", subject(&d.set.Subject)),
		)),
		yamldoc.Optional("policies", "list of policies; for each workload, gitlatch uses the first policy that selects it", items(&d.rules, d.ruleFields)),
		yamldoc.Optional("commitsPerDay", "maximum number of commits that gitlatch creates for the site per day; the maximum does not apply to urgent changes", whole(&d.set.Guards.CommitsPerDay)),
	).With(yamldoc.Rule{Check: d.check})
}

// ruleFields returns the table of a policy. The policy starts with the file's preset.
func (d *policyDocument) ruleFields(rule *policy.Rule) yamldoc.Object {
	rule.Policy, rule.Policy.Name = d.base, ""
	head := []yamldoc.Field{
		yamldoc.Required("name", "name of the policy in reports and in the annotation gitlatch.dev/policy", yamldoc.Into(&rule.Policy.Name, yamldoc.Label)),
		yamldoc.Required("match", "conditions that select the workloads of this policy; the match `{}` selects all other workloads, and only the last policy can have it", matchFields(&rule.Match, d.set.Kinds)),
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
		yamldoc.Optional("labels", "all labels that a workload must have to match the policy", pairs(&m.Labels, labelValue)),
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
		yamldoc.Optional("series", "series of possible levels: the name of a built-in series, or a list of numbers", series(&p.Series)),
		yamldoc.Optional("round", "how gitlatch rounds the desired replicas to a level", yamldoc.Into(&p.Round, rounds)),
		yamldoc.Optional("hold", "stabilization windows for level changes", yamldoc.Fields(
			yamldoc.Optional("up", "number of samples in a row that must round to a higher level before gitlatch raises the level", whole(&p.HoldUp)),
			yamldoc.Optional("down", "how long the desired replicas must stay below the threshold before gitlatch lowers the level; gitlatch commits the lower level together with another change, or alone after twice this time; if `hold.down` is `0`, gitlatch lowers a level after `hold.up` samples", span(&p.HoldDown, 0)),
		)),
		yamldoc.Optional("margin", "how much gitlatch adds to the desired replicas before it decides whether to lower a level", share(&p.Margin)),
		yamldoc.Optional("review", "opens a pull request instead of committing a surge; in a surge, the desired replicas exceed 10 times the level", yes(&p.Review)),
		yamldoc.Optional("scale", "how gitlatch handles a level; `latch` writes the level to git, `report` only reports the level, and `ignore` skips the workload", yamldoc.Into(&p.Scale, modes)),
		yamldoc.Optional("bounds", "how gitlatch handles changes to an autoscaler's minimum and maximum replicas; `latch` writes the changes to git, `report` only reports them, and `ignore` skips them", yamldoc.Into(&p.Bounds, modes)),
		yamldoc.Optional("rollout", "settings for rollouts that are in progress", yamldoc.Fields(
			yamldoc.Optional("mode", "how gitlatch handles rollouts; `latch` writes rollout entries to git, `report` only reports the entries, and `ignore` skips rollouts", yamldoc.Into(&p.Rollout, modes)),
			yamldoc.Optional("after", "how long a rollout must be in progress before gitlatch writes a rollout entry to git; gitlatch writes the entry for a failed rollout without this delay", span(&p.RolloutAfter, 0)),
			yamldoc.Optional("progressDeadline", "how long gitlatch waits for another new pod to become available; after this time, gitlatch can treat the rollout as failed; a failed rollout counts as recovered after it has been healthy for the same duration", span(&p.ProgressDeadline, 0)),
			yamldoc.Optional("cut", "rollout progress, in percent, at which a rollout entry switches to the new pod template; the rollout must be healthy and show this progress in two samples in a row", percent(&p.Cut)),
		)),
		yamldoc.Optional("undriven", "also writes levels for workloads without an autoscaler", yes(&p.Undriven)),
	}
}
