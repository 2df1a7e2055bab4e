package checkpoint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/lists"
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
// and the edits of a user: another order, comments, numbers without quotes, and other text
// in the binding. The error is *yamldoc.Errors, each problem with its line, its field and a
// remedy. ParseRecord accepts any kind, because it does not know the site's kinds.
func ParseRecord(namespace string, data []byte) (Record, error) {
	return parseRecord(newReader(recordName(namespace)), namespace, data, anyKind)
}

func anyKind(workload.Kind) error { return nil }

func parseRecord(r *yamldoc.Reader, namespace string, data []byte, foreign func(workload.Kind) error) (Record, error) {
	d := newDraft(namespace, foreign)
	r.Read(withoutBinding(data), d.document())
	if err := r.Err(); err != nil {
		return Record{}, err
	}
	return d.record, nil
}

var (
	separator   = regexp.MustCompile(`^---([ \t].*)?\r?\n?$`)
	bindingKind = regexp.MustCompile(`^kind:[ \t]*["']?MutatingAdmissionPolicyBinding["']?[ \t]*\r?\n?$`)
	comment     = regexp.MustCompile(`^[ \t]*(#.*)?\r?\n?$`)
)

// withoutBinding returns a checkpoint file without the document of the binding and without
// documents that contain only comments. Their lines become empty, so that problems in the
// other documents have the right line.
func withoutBinding(data []byte) []byte {
	var kept [][]byte
	others := 0
	for _, document := range documents(data) {
		isBinding := slices.ContainsFunc(document, bindingKind.Match)
		isEmpty := !slices.ContainsFunc(document, func(line []byte) bool { return !comment.Match(line) && !separator.Match(line) })
		if isBinding || isEmpty {
			kept = append(kept, lists.Map(document, func([]byte) []byte { return []byte("\n") })...)
			continue
		}
		others++
		if others == 1 && separator.Match(document[0]) {
			document[0] = []byte("\n")
		}
		kept = append(kept, document...)
	}
	return bytes.Join(kept, nil)
}

// documents returns the lines of each YAML document in a file. The line --- is the first
// line of a document.
func documents(data []byte) (all [][][]byte) {
	for line := range bytes.Lines(data) {
		if len(all) == 0 || separator.Match(line) {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], line)
	}
	return all
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

// document returns the schema of the ConfigMap in a checkpoint file.
func (d draft) document() yamldoc.Document {
	return configMap(d.record.Namespace, yamldoc.Optional("data", "the facts", yamldoc.Map{
		Must:  `a mapping such as {deployment.web: "5"}`,
		Empty: true,
		Entry: d.fact,
		Rules: []yamldoc.Rule{{Check: d.check}},
	}))
}

// configMap returns the schema of a ConfigMap with a name in admission.Namespace.
func configMap(name string, data yamldoc.Field) yamldoc.Document {
	return yamldoc.Document{APIVersion: "v1", Kind: "ConfigMap", Object: yamldoc.Fields(
		yamldoc.Required("metadata", "the name and the namespace of the ConfigMap", yamldoc.Fields(
			yamldoc.Required("name", name, yamldoc.Exactly(name)),
			yamldoc.Required("namespace", admission.Namespace, yamldoc.Exactly(admission.Namespace)),
		)),
		data,
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
