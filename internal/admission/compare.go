package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// A State is the outcome of a comparison. The zero value is Unknown.
type State int

const (
	// Unknown means that one side could not be read.
	Unknown State = iota
	// Absent means that the cluster does not have the object.
	Absent
	// Differs means that the object in the cluster has another effect.
	Differs
	// Equal means that the object in the cluster has the same effect.
	Equal
)

// String returns the state in lower case.
func (s State) String() string {
	return [...]string{"unknown", "absent", "differs", "equal"}[s]
}

// An Answer is the result of a comparison. The zero value is Unknown without a reason.
type Answer struct {
	State State
	Field string // the first field that differs: "spec.failurePolicy"; else ""
	Why   string // the reason of Unknown, and both values of Differs; else ""
}

// String returns the answer as one line: "differs: spec.failurePolicy is "Fail", want
// "Ignore"".
func (a Answer) String() string {
	text := a.State.String()
	if a.Field+a.Why != "" {
		text += ": "
	}
	return text + strings.TrimSpace(a.Field+" "+a.Why)
}

// A Read is the result of reading one object from a cluster. The zero value is an object
// that was not read.
type Read struct {
	object  map[string]any
	missing bool
	why     string
}

// Present returns the read of an object in the form of its JSON. A nil object was not read.
func Present(object map[string]any) Read { return Read{object: object} }

// Missing returns the read of an object that the cluster does not have.
func Missing() Read { return Read{missing: true} }

// Failed returns the read of an object that may be in the cluster. why is the reason why
// it could not be read.
func Failed(why string) Read { return Read{why: why} }

// Find returns the read of one object in a complete list of objects of its kind.
func Find(objects []map[string]any, name string) Read {
	for _, o := range objects {
		if at(o, "metadata", "name") == name {
			return Present(o)
		}
	}
	return Missing()
}

// Why returns the reason why the object could not be read; "" if the cluster has it, or does not
// have it.
func (r Read) Why() string {
	answer, _ := r.outcome()
	return answer.Why
}

// Metadata returns the labels and annotations of an object, which show the tool that applies
// it; nil without an object.
func (r Read) Metadata() (labels, annotations map[string]string) {
	return texts(at(r.object, "metadata", "labels")), texts(at(r.object, "metadata", "annotations"))
}

// texts returns a map of texts; nil for another value.
func texts(value any) map[string]string {
	all, _ := value.(map[string]any)
	found := map[string]string{}
	for key, one := range all {
		found[key], _ = one.(string)
	}
	return found
}

// outcome returns the answer if the object cannot be compared. ok is true if it can.
func (r Read) outcome() (answer Answer, ok bool) {
	switch {
	case r.missing:
		return Answer{State: Absent}, false
	case r.object != nil:
		return Answer{}, true
	case r.why != "":
		return Answer{Why: r.why}, false
	}
	return Answer{Why: "not read"}, false
}

// Compare compares the policy in a cluster with the one in a file: the file at Path in git,
// or the output of Format. It compares name and spec, and ignores the fields that the API
// server adds with their default. CompareWatchBinding compares the binding in the file.
func Compare(file []byte, live Read) Answer {
	return compare(file, "MutatingAdmissionPolicy", Name, live)
}

// CompareBinding compares the binding of a namespace in a cluster with Binding.
func CompareBinding(namespace string, live Read) Answer {
	return compare(Binding(namespace), "MutatingAdmissionPolicyBinding", BindingName(namespace), live)
}

// CompareWatchBinding compares the WatchBinding in a cluster with the one in a file. If it
// is not Equal, API servers can stop reading changed levels.
func CompareWatchBinding(file []byte, live Read) Answer {
	return compare(file, "MutatingAdmissionPolicyBinding", WatchBinding, live)
}

// Covers reports whether the policy in a cluster raises a kind: Equal if it has the rule,
// the name and the path of the kind. If it does not, "gitlatch init" was not run after the
// kind was added, or no policy can raise the kind. Compare checks the other parts.
func Covers(kind workload.Kind, o workload.Object, live Read) Answer {
	if answer, ok := live.outcome(); !ok {
		return answer
	}
	var want []any
	if err := yaml.Unmarshal([]byte(rule(o)), &want); err != nil {
		return Answer{Why: err.Error()}
	}
	rules, _ := at(live.object, "spec", "matchConstraints", "resourceRules").([]any)
	matches := func(rule any) bool { return difference("", pruned(want[0]), pruned(rule)).State == Equal }
	if !slices.ContainsFunc(rules, matches) {
		return Answer{State: Differs, Field: "spec.matchConstraints.resourceRules", Why: "has no rule for " + o.FullResource()}
	}
	variables, _ := at(live.object, "spec", "variables").([]any)
	names := func(variable any) bool {
		expression, _ := at(variable, "expression").(string)
		return at(variable, "name") == "kinds" && strings.Contains(expression, line(kind, o))
	}
	if !slices.ContainsFunc(variables, names) {
		return Answer{State: Differs, Field: "spec.variables", Why: "has no kind " + line(kind, o)}
	}
	return Answer{State: Equal}
}

// at returns the value at a path of names in an object, or nil if the object has no such
// value.
func at(object any, names ...string) any {
	for _, name := range names {
		fields, _ := object.(map[string]any)
		object = fields[name]
	}
	return object
}

// document returns the YAML document of a file that has the kind and the name.
func document(file []byte, kind, name string) (map[string]any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	for {
		var found map[string]any
		err := decoder.Decode(&found)
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("the file in git has no %s %s", kind, name)
		case err != nil:
			return nil, fmt.Errorf("parse the file in git: %w", err)
		case found["kind"] == kind && at(found, "metadata", "name") == name:
			return found, nil
		}
	}
}

// compare compares the name and the spec of an object in a file and in a cluster.
func compare(file []byte, kind, name string, live Read) Answer {
	want, err := document(file, kind, name)
	if err != nil {
		return Answer{Why: err.Error() + ". Run gitlatch init"}
	}
	if answer, ok := live.outcome(); !ok {
		return answer
	}
	named := difference("metadata.name", name, at(live.object, "metadata", "name"))
	if named.State != Equal {
		return named
	}
	return difference("spec", pruned(want["spec"]), pruned(live.object["spec"]))
}

// defaults are the values that the API server adds to fields without a value.
var defaults = map[string]any{"matchPolicy": "Equivalent", "scope": "*"}

// pruned returns a value without defaults and without empty maps and lists, which mean the
// same as no value. It returns nil if nothing is left.
func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, field := range v {
			field = pruned(field)
			if field != nil && field != defaults[name] {
				kept[name] = field
			}
		}
		if len(kept) > 0 {
			return kept
		}
		return nil
	case []any:
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = pruned(item)
		}
		if len(kept) > 0 {
			return kept
		}
		return nil
	}
	return value
}

// difference returns Equal, or Differs with the first field in which two values differ.
func difference(field string, want, live any) Answer {
	wanted, found := parts(want), parts(live)
	if wanted == nil || found == nil {
		if reflect.DeepEqual(want, live) {
			return Answer{State: Equal}
		}
		return Answer{State: Differs, Field: field, Why: fmt.Sprintf("is %s, want %s", shown(live), shown(want))}
	}
	all := maps.Clone(wanted)
	maps.Copy(all, found)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		answer := difference(field+name, wanted[name], found[name])
		if answer.State != Equal {
			return answer
		}
	}
	return Answer{State: Equal}
}

// parts returns the fields of a map and the items of a list, by their path in the value. It
// returns nil for other values.
func parts(value any) map[string]any {
	all := map[string]any{}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			all["."+name] = field
		}
	case []any:
		for i, item := range v {
			all["["+strconv.Itoa(i)+"]"] = item
		}
	default:
		return nil
	}
	return all
}

// shown returns a value as a short text for messages.
func shown(value any) string {
	if value == nil {
		return "absent"
	}
	return yamldoc.Quote(fmt.Sprint(value))
}
