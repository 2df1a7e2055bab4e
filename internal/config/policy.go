package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/policy"
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
// presets, and DefaultPolicy, have it; kinds are those of the site's Config. The
// name stands in errors, which are *Errors and hold all that is wrong.
func ParsePolicy(name string, data []byte, period time.Duration, kinds workload.Kinds) (policy.Set, error) {
	doc := newPolicyDocument(period, kinds)
	r := newReader(name)
	r.read(KindPolicy, data, doc.fields())
	doc.check(r)
	if err := r.err(); err != nil {
		return policy.Set{}, err
	}
	doc.set.Latch, doc.set.Ignored = doc.mode == modeLatch, r.ignored
	for _, rule := range doc.rules {
		doc.set.Rules = append(doc.set.Rules, *rule)
	}
	return doc.set, nil
}

// defaultName is what reports call the policy of what no other matches.
const defaultName = "default"

const (
	modeObserve = "observe"
	modeLatch   = "latch"
)

// A policyDocument is a policy file while it is read.
type policyDocument struct {
	mode  string
	base  policy.Policy // the file's preset, which each policy starts from
	rules []*policy.Rule
	set   policy.Set
	kinds workload.Kinds
}

func newPolicyDocument(period time.Duration, kinds workload.Kinds) *policyDocument {
	set := DefaultPolicy(period)
	return &policyDocument{mode: modeObserve, base: set.Default, set: set, kinds: kinds}
}

// fields is the table of a Policy document. A preset is read before what stands
// beside it, so that the rest overrides it.
func (d *policyDocument) fields() []field {
	return []field{
		{"mode", "observe computes and reports, latch also writes to git", false,
			word[string]{&d.mode, []string{modeObserve, modeLatch}}},
		{"preset", "what policies start from that name no preset of their own", false,
			preset{[]*policy.Policy{&d.base, &d.set.Default}}},
		{"policies", "the policies of some workloads; the first that matches is taken", false, list{d.add}},
		{"default", "the policy of workloads that no other matches", false, object{fields: presetRules(&d.set.Default)}},
		{"guards", "limits over the whole site", false, object{fields: guardFields(&d.set.Guards)}},
	}
}

// add appends a policy that starts from the file's preset.
func (d *policyDocument) add() object {
	rule := &policy.Rule{Policy: d.base}
	d.rules = append(d.rules, rule)
	head := []field{
		{"name", "the name that reports call the policy by", true,
			text{into: &rule.Policy.Name, pattern: labelShape, must: "a DNS label: lower case letters, digits and dashes, at most 63"}},
		{"match", "which workloads have this policy; {} is all that none before it has", true, object{fields: matchFields(&rule.Match, d.kinds)}},
	}
	rule.Policy.Name = ""
	return object{fields: append(head, presetRules(&rule.Policy)...)}
}

func matchFields(m *policy.Match, kinds workload.Kinds) []field {
	const patternShape = `^[-a-z0-9.*?\[\]^]+$`
	pattern := func(into *string) value {
		return text{into: into, pattern: patternShape, must: "a name in lower case, or a pattern with *, ? or [a-z]", check: wrongPattern}
	}
	kind := func(into *string) value { return kindName{word[string]{into, words(kinds.All())}} }
	label := func(into *string) value {
		return text{into: into, pattern: `^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`, must: "the whole value of a label, at most 63 letters, digits, -, _ and ."}
	}
	return []field{
		{"namespaces", "patterns, one of which the namespace matches; kube-system only where it is named", false, texts[string]{into: &m.Namespaces, one: pattern}},
		{"names", "patterns, one of which the name matches", false, texts[string]{into: &m.Names, one: pattern}},
		{"kinds", "kinds, one of which the workload is", false, texts[workload.Kind]{into: &m.Kinds, one: kind}},
		{"labels", "labels that the workload has, all of them", false, pairs{&m.Labels, label}},
	}
}

// A kindName is one of the kinds of a site. A schema does not know which its
// Config names.
type kindName struct{ word[string] }

func (k kindName) read(r *reader, path string, n *yaml.Node) {
	before := len(r.problems)
	if k.word.read(r, path, n); len(r.problems) > before && n.Kind == yaml.ScalarNode {
		r.problems[before].Text += "; others are named in cluster.kinds of the site's Config"
	}
}

func (k kindName) schema() schema {
	return schema{"anyOf": []any{k.word.schema(), schema{"type": "string", "pattern": labelShape}}}
}

// presetRules is the fields of one policy, without what chooses its workloads.
func presetRules(p *policy.Policy) []field {
	return []field{
		{"preset", "what the rest of this policy starts from", false, preset{[]*policy.Policy{p}}},
		{"series", "the levels, by name or as a list", false, series{&p.Series}},
		{"round", "how a need becomes a level", false, own{word[policy.Round]{&p.Round, policy.Rounds()}}},
		{"hold", "how long a need must last", false, object{fields: []field{
			{"up", "the consecutive samples that a raise needs", false, own{whole{&p.HoldUp, 1}}},
			{"down", "the observed time that a lowering needs; 0 makes it as quick as a raise", false, own{span{into: &p.HoldDown}}},
		}}},
		{"margin", "how far below a threshold a need must be to lower", false, own{share{&p.Margin}}},
		{"urgent", "need over declared above which a raise waits for no budget", false, ratio{&p.Urgent, 1}},
		{"surge", "a crossing that is out of the ordinary", false, object{fields: []field{
			{"ratio", "need over declared above which it is", false, ratio{&p.Surge, 1}},
			{"review", "leaves it to a person to make", false, own{truth{&p.Review}}},
		}}},
		{"scale", "what is done with the scale", false, own{word[policy.Mode]{&p.Scale, policy.Modes()}}},
		{"bounds", "what is done with an autoscaler's min and max", false, own{word[policy.Mode]{&p.Bounds, policy.Modes()}}},
		{"rollout", "what is done with a rollout in flight", false, object{fields: []field{
			{"mode", "latch declares its milestones, report only says them", false, own{word[policy.Mode]{&p.Rollout, policy.Modes()}}},
			{"after", "how long a rollout must be in flight to be recorded; one that fails is recorded at once", false, own{span{into: &p.RolloutAfter}}},
			{"hold", "ignored: after says how long a rollout must be in flight to be recorded", false, ignored("remove it; after says how long a rollout must be in flight to be recorded")},
			{"progressDeadline", "for how long none of its missing pods comes until it has failed, and it is healthy until a failure is over", false, own{span{into: &p.ProgressDeadline}}},
			{"milestones", "those that its record passes, in percent, ascending", false, own{percents{&p.Milestones}}},
			{"cut", "the percentage from which on, in two healthy samples in a row, a rebuild should begin with the new template", false, own{percent{&p.Cut}}},
		}}},
		{"undriven", "also latches what no autoscaler drives", false, own{truth{&p.Undriven}}},
		{"acceptRisk", "also writes levels that nothing is known to keep from acting on the live cluster", false, truth{&p.AcceptRisk}},
	}
}

func guardFields(g *policy.Guards) []field {
	return []field{
		{"yield", "how long what a person changed is left alone", false, span{into: &g.Yield}},
		{"budget", "how many commits there may be", false, object{fields: []field{
			{"commitsPerDay", "the commits a day; urgent raises do not wait for it", false, whole{&g.CommitsPerDay, 1}},
		}}},
		{"massDrop", "when so many workloads halve at once that nothing is lowered", false, object{fields: []field{
			{"share", "the part of the workloads", false, share{&g.DropShare}},
			{"least", "and at least so many of them", false, whole{&g.DropLeast, 1}},
			{"within", "the time within which they halve", false, span{into: &g.DropWithin}},
		}}},
		{"retire", "when the entry of a workload that is gone goes", false, object{fields: []field{
			{"after", "how long it must be absent", false, span{into: &g.RetireAfter}},
			{"share", "the part of the site that may be absent; while more is, no entry goes", false, share{&g.RetireShare}},
		}}},
	}
}
