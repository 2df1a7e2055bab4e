package config

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/strict"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// DefaultPolicy is what a site without a policy file is run by, with the time
// from one tick to the next, which the site's Config has.
func DefaultPolicy(period time.Duration) policy.Set {
	set := policy.DefaultSet()
	set.Default.Name = defaultName
	set.Guards.Period = period
	set.Guards.DropWithin = max(set.Guards.DropWithin, period)
	return set
}

// ParsePolicy reads a document of kind Policy. What it leaves out is as its
// presets, and DefaultPolicy, have it. The name stands in errors, which are
// *strict.Errors and hold all that is wrong.
func ParsePolicy(name string, data []byte, period time.Duration) (policy.Set, error) {
	doc := newPolicyDocument(name, period)
	r := strict.NewReader(name)
	r.Read(data, document(KindPolicy, doc.fields()))
	if err := r.Err(); err != nil {
		return policy.Set{}, err
	}
	doc.set.Latch = doc.mode == ModeLatch
	for _, rule := range doc.rules {
		doc.set.Rules = append(doc.set.Rules, *rule)
	}
	return doc.set, nil
}

// defaultName is what reports call the policy of what no other matches.
const defaultName = "default"

// The modes of a site. A site that observes writes nothing to git.
const (
	ModeObserve = "observe"
	ModeLatch   = "latch"
)

// Modes returns all modes, the default first.
func Modes() []string { return []string{ModeObserve, ModeLatch} }

// A policyDocument is a policy file while it is read.
type policyDocument struct {
	mode  string
	base  policy.Policy // the file's preset, which each policy starts from
	rules []*policy.Rule
	set   policy.Set
	file  string // its own name
}

func newPolicyDocument(file string, period time.Duration) *policyDocument {
	set := DefaultPolicy(period)
	return &policyDocument{mode: ModeObserve, base: set.Default, set: set, file: file}
}

// fields is the table of a Policy document. A preset is read before what stands
// beside it, so that the rest overrides it, and kinds before who may match them.
func (d *policyDocument) fields() strict.Object {
	return strict.Fields(
		strict.Optional("mode", "observe computes and reports, latch also writes to git",
			strict.Into(&d.mode, strict.Word(Modes()...))),
		strict.Optional("preset", "what policies start from that name no preset of their own",
			preset(&d.base, &d.set.Default)),
		strict.Optional("kinds", "the kinds with a scale subresource to sample beside those that gitlatch knows", kindList(&d.set.Kinds)),
		strict.Optional("policies", "the policies of some workloads; the first that matches is taken", items(&d.rules, d.ruleFields)),
		strict.Optional("default", "the policy of workloads that no other matches", strict.Fields(presetRules(&d.set.Default)...)),
		strict.Optional("inPlace", "files on the branch in which counts marked # {\"$gitlatch\": \"namespace/kind/name\"} follow the checkpoints",
			inPlace(&d.set.InPlace, d.file)),
		strict.Optional("guards", "limits over the whole site", guardFields(&d.set.Guards)),
	).With(strict.Rule{Check: d.check})
}

// ruleFields is the table of a policy that starts from the file's preset.
func (d *policyDocument) ruleFields(rule *policy.Rule) strict.Object {
	rule.Policy, rule.Policy.Name = d.base, ""
	head := []strict.Field{
		strict.Required("name", "the name that reports call the policy by", strict.Into(&rule.Policy.Name, strict.Label)),
		strict.Required("match", "which workloads have this policy; {} is all that none before it has", matchFields(&rule.Match, d.set.Kinds)),
	}
	return strict.Fields(append(head, presetRules(&rule.Policy)...)...)
}

var (
	nameOrPattern = strict.Text(`^[-a-z0-9.*?\[\]^]+$`, "a name in lower case, or a pattern with *, ? or [a-z]")
	labelValue    = strict.Text(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`, "the whole value of a label, at most 63 letters, digits, -, _ and .")

	modes   = strict.Word(policy.Modes()...)
	presets = strict.Word(policy.PresetNames()...)
	rounds  = strict.Word(policy.Roundings()...)
)

func matchFields(m *policy.Match, kinds workload.Kinds) strict.Object {
	const all = "leave the field out for all"
	return strict.Fields(
		strict.Optional("namespaces", "patterns, one of which the namespace matches; kube-system only where it is named", texts(&m.Namespaces, all, nameOrPattern, wrongPattern)),
		strict.Optional("names", "patterns, one of which the name matches", texts(&m.Names, all, nameOrPattern, wrongPattern)),
		strict.Optional("kinds", "kinds, one of which the workload is", texts(&m.Kinds, all, kindName(kinds))),
		strict.Optional("labels", "labels that the workload has, all of them", pairs(&m.Labels, labelValue)),
	)
}

// kindName is one of the kinds of a site. A schema does not know which its policy
// names.
func kindName(kinds workload.Kinds) strict.Form {
	f := strict.Word(kinds.All()...)
	f.Must += ", or one that kinds of the policy names"
	f.Schema = schema{"anyOf": []any{f.Schema, schema{"type": "string", "pattern": strict.LabelShape}}}
	return f
}

// preset binds whole policies to one by name; their own names stay.
func preset(into ...*policy.Policy) strict.Scalar {
	s := strict.Taken(presets, func(name string) {
		for _, p := range into {
			own := p.Name
			*p = policy.Presets()[name]
			p.Name = own
		}
	})
	s.Holds = policy.DefaultSet().Default.Name
	return s
}

// series binds a series: one by name, or a list of levels.
func series(into *policy.Series) strict.List {
	list := numbers(into.String(), level, func(levels []int32) error {
		found, err := policy.ListSeries(levels)
		if err == nil {
			*into = found
		}
		return err
	})
	form := strict.Word(policy.SeriesNames()...)
	form.Must += ", or a list of levels"
	list.Or = strict.Parsed(into, form, "", policy.ParseSeries)
	return list
}

func level(into *int32) strict.Scalar {
	return integer(into, "a whole number of pods, at most 2147483647", math.MinInt32, math.MaxInt32, schema{"minimum": 1, "maximum": math.MaxInt32})
}

// percents binds a list of them. Their order is for whoever owns it to judge.
func percents(into *[]int32) strict.List {
	return numbers(strings.Join(strings.Fields(fmt.Sprint(*into)), ", "), percent, func(all []int32) error {
		*into = all
		return nil
	})
}

// presetRules is the fields of one policy, without what chooses its workloads.
func presetRules(p *policy.Policy) []strict.Field {
	return []strict.Field{
		strict.Optional("preset", "what the rest of this policy starts from", preset(p)),
		strict.Optional("series", "the levels, by name or as a list", series(&p.Series)),
		strict.Optional("round", "how a need becomes a level", strict.Into(&p.Round, rounds)),
		strict.Optional("hold", "how long a need must last", strict.Fields(
			strict.Optional("up", "the consecutive samples that a raise needs", whole(&p.HoldUp)),
			strict.Optional("down", "the observed time that a lowering needs; 0 makes it as quick as a raise", span(&p.HoldDown, 0)),
		)),
		strict.Optional("margin", "how far below a threshold a need must be to lower", share(&p.Margin)),
		strict.Optional("urgent", "need over declared above which a raise waits for no budget", ratio(&p.Urgent)),
		strict.Optional("surge", "a crossing that is out of the ordinary", strict.Fields(
			strict.Optional("ratio", "need over declared above which it is", ratio(&p.Surge)),
			strict.Optional("review", "leaves it to a person to make", yes(&p.Review)),
		)),
		strict.Optional("scale", "what is done with the scale", strict.Into(&p.Scale, modes)),
		strict.Optional("bounds", "what is done with an autoscaler's min and max", strict.Into(&p.Bounds, modes)),
		strict.Optional("rollout", "what is done with a rollout in flight", strict.Fields(
			strict.Optional("mode", "latch declares its milestones, report only says them", strict.Into(&p.Rollout, modes)),
			strict.Optional("after", "how long a rollout must be in flight to be recorded; one that fails is recorded at once", span(&p.RolloutAfter, 0)),
			strict.Optional("progressDeadline", "for how long none of its missing pods comes until it has failed, and it is healthy until a failure is over", span(&p.ProgressDeadline, 0)),
			strict.Optional("milestones", "those that its record passes, in percent, ascending", percents(&p.Milestones)),
			strict.Optional("cut", "the percentage from which on, in two healthy samples in a row, a rebuild should begin with the new template", percent(&p.Cut)),
		)),
		strict.Optional("undriven", "also latches what no autoscaler drives", yes(&p.Undriven)),
		strict.Optional("acceptRisk", "also writes levels that nothing is known to keep from acting on the live cluster", yes(&p.AcceptRisk)),
	}
}

func guardFields(g *policy.Guards) strict.Object {
	return strict.Fields(
		strict.Optional("yield", "how long what a person changed is left alone", span(&g.Yield, 0)),
		strict.Optional("budget", "how many commits there may be", strict.Fields(
			strict.Optional("commitsPerDay", "the commits a day; urgent raises do not wait for it", whole(&g.CommitsPerDay)),
		)),
		strict.Optional("massDrop", "when so many workloads halve at once that nothing is lowered", strict.Fields(
			strict.Optional("share", "the part of the workloads", share(&g.DropShare)),
			strict.Optional("least", "and at least so many of them", whole(&g.DropLeast)),
			strict.Optional("within", "the time within which they halve", span(&g.DropWithin, 0)),
		)),
		strict.Optional("retire", "when the entry of a workload that is gone goes", strict.Fields(
			strict.Optional("after", "how long it must be absent", span(&g.RetireAfter, 0)),
			strict.Optional("share", "the share of the entries whose workloads may be absent; no entry is removed while more are", share(&g.RetireShare)),
		)),
	)
}
