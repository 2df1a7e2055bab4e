package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// mostTold is the maximum number of problems that an error lists. A user who edits a
// hundred lines at once makes the same mistake in each.
const mostTold = 5

func newReader(file string) *yamldoc.Reader {
	r := yamldoc.NewReader(file)
	r.Told = mostTold
	return r
}

// ParseRecord parses the checkpoint file of a namespace. It accepts the bytes of Format
// and the edits of a user: another order, comments, numbers without quotes. The error is
// *yamldoc.Errors, each problem with its line, its field and a remedy. ParseRecord accepts
// any kind, because it does not know the site's kinds.
func ParseRecord(namespace string, data []byte) (Record, error) {
	return parseRecord(newReader(recordFile), namespace, data, anyKind)
}

func anyKind(workload.Kind) error { return nil }

func parseRecord(r *yamldoc.Reader, namespace string, data []byte, foreign func(workload.Kind) error) (Record, error) {
	d := newDraft(namespace, foreign)
	r.Read(data, d.document())
	if err := r.Err(); err != nil {
		return Record{}, err
	}
	return d.record, nil
}

// isConfigMap reports whether the file that r read is the ConfigMap of its namespace,
// whether or not its other fields are valid.
func isConfigMap(r *yamldoc.Reader) bool {
	identity := []string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}
	return !r.Failed("") && !slices.ContainsFunc(identity, func(path string) bool { return r.Line(path) == 0 || r.Failed(path) })
}

// A draft is a checkpoint file during parsing.
type draft struct {
	record  Record
	foreign func(workload.Kind) error // returns an error for an unknown kind
	rollout map[workload.ID]string    // the first key of each rollout
}

func newDraft(namespace string, foreign func(workload.Kind) error) draft {
	return draft{Record{namespace, map[workload.ID]Entry{}}, foreign, map[workload.ID]string{}}
}

// document returns the schema of a checkpoint file.
func (d draft) document() yamldoc.Document {
	return yamldoc.Document{APIVersion: "v1", Kind: "ConfigMap", Object: yamldoc.Fields(
		yamldoc.Required("metadata", "the name and the namespace of the ConfigMap", yamldoc.Fields(
			yamldoc.Required("name", configMap, yamldoc.Exactly(configMap)),
			yamldoc.Required("namespace", d.record.Namespace, yamldoc.Exactly(d.record.Namespace)),
		)),
		yamldoc.Optional("data", "the facts", yamldoc.Map{
			Must:  `a mapping such as {deployment.web: "5"}`,
			Empty: true,
			Entry: d.fact,
			Rules: []yamldoc.Rule{{Check: d.check}},
		}),
	)}
}

// fact returns the binding of a key of data to the field of its entry, a yamldoc.Scalar,
// or an error about the key.
func (d draft) fact(k string) (yamldoc.Value, error) {
	id, suffix, ok := d.record.split(k)
	e := d.record.Entries[id]
	fact, known := e.fact(suffix)
	scale := slices.Contains(scaleSuffixes, suffix)
	switch {
	case !ok:
		return nil, errors.New("must be a kind, a dot and a name, such as deployment.web")
	case !known:
		return nil, fmt.Errorf("unknown fact %q. Known facts are %s, %s and, for a rollout, %s, and %s or %s with the name of a container",
			suffix, suffixMax, suffixMin, strings.Join(rolloutSuffixes, ", "), suffixFrom+"_", suffixTo+"_")
	case scale && !id.Kind.Scales():
		return nil, fmt.Errorf("must not be here, because a %s has no replicas. Remove this line", id.Kind)
	}
	if err := cmp.Or(Fits(id), fitsKey(id, suffix), d.foreign(id.Kind)); err != nil {
		return nil, err
	}
	if !scale && d.rollout[id] == "" {
		d.rollout[id] = k
	}
	take := fact.Take
	fact.Take = func(text string) error {
		defer func() { d.record.Entries[id] = e }()
		return take(text)
	}
	d.record.Entries[id] = e
	return fact, nil
}

// check checks the facts of each entry together.
func (d draft) check(r *yamldoc.Reader, data string) {
	for _, id := range d.record.ids() {
		e := d.record.Entries[id]
		at := func(suffix string) string { return yamldoc.Child(data, key(id, suffix)) }
		for _, bound := range []string{suffixMax, suffixMin} {
			if r.Line(at(bound)) > 0 && r.Line(at("")) == 0 && id.Kind.Scales() {
				r.Report(at(bound), "has no level. Add %s, or remove this line", key(id, ""))
			}
		}
		if e.Max != 0 && e.Min > e.Max {
			r.Report(at(suffixMin), "must be at most %s, which is %d, got %d", key(id, suffixMax), e.Max, e.Min)
		}
		if to := e.Rollout.To.Hash; to != "" && to == e.Rollout.From.Hash {
			r.Report(at(suffixTo), "must be another template than %s", key(id, suffixFrom))
		}
		if d.rollout[id] == "" {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(rolloutSuffixes), func(suffix string) bool { return r.Line(at(suffix)) > 0 })
		if len(missing) > 0 {
			r.Report(yamldoc.Child(data, d.rollout[id]), "requires %s. Add the missing lines, or remove all lines of the rollout", strings.Join(missing, ", "))
		}
	}
}

// split returns the workload and the suffix of a key of data.
func (r Record) split(k string) (id workload.ID, suffix string, ok bool) {
	name := k
	if i := strings.IndexByte(k, '_'); i >= 0 {
		name, suffix = k[:i], k[i:]
	}
	kind, name, ok := strings.Cut(name, ".")
	return workload.ID{Namespace: r.Namespace, Kind: workload.Kind(kind), Name: name}, suffix, ok
}
