package doctor

import (
	"cmp"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// A Basis is the source of an answer. The zero value means that the answer is unknown.
type Basis string

// The sources of answers.
const (
	Unknown  Basis = ""
	Stated   Basis = "stated"   // a user states it
	Observed Basis = "observed" // an object in the cluster shows it
)

// String returns the basis as a word.
func (b Basis) String() string { return cmp.Or(string(b), "unknown") }

// MarshalText returns the text of String.
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Evidence is a part of an object that shows an answer.
type Evidence struct {
	Object string    `json:"object"`         // such as "Kustomization flux-system/shop"
	Field  string    `json:"field"`          // such as "spec.suspend"
	At     time.Time `json:"at,omitzero"`    // of the last change of the field; zero if unknown
	Value  string    `json:"value,omitzero"` // such as "true"; "" if the field is absent
}

// An Answer is the answer to a yes-or-no question about a rebuild. "Yes" is always the answer
// that keeps the floor of a workload. The zero value is unknown: it is not yes, and not no.
type Answer struct {
	basis    Basis
	yes      bool
	trap     Trap // the name of the finding, unless the answer is yes; "" for no finding
	text     string
	fix      string // the change that makes the answer yes, or makes it known
	evidence []Evidence
}

// Shows returns an observed yes.
func Shows(text string, evidence ...Evidence) Answer {
	return Answer{basis: Observed, yes: true, text: text, evidence: evidence}
}

// Refutes returns an observed no, with the fix.
func Refutes(trap Trap, text, fix string, evidence ...Evidence) Answer {
	return Answer{basis: Observed, trap: trap, text: text, fix: fix, evidence: evidence}
}

// States returns a yes that a user states.
func States(text string) Answer { return Answer{basis: Stated, yes: true, text: text} }

// Open returns an unknown answer, with the reason and the change that makes it known.
func Open(trap Trap, text, needs string, evidence ...Evidence) Answer {
	return Answer{trap: trap, text: text, fix: needs, evidence: evidence}
}

// Basis returns the source of the answer.
func (a Answer) Basis() Basis { return a.basis }

// Yes reports whether gitlatch knows the answer, and it is yes.
func (a Answer) Yes() bool { return a.basis != Unknown && a.yes }

// No reports whether gitlatch knows the answer, and it is no.
func (a Answer) No() bool { return a.basis != Unknown && !a.yes }

// Text returns the reason, as a sentence without a full stop.
func (a Answer) Text() string { return cmp.Or(a.text, "not read") }

// finding returns the finding about a subject. ok is false if there is nothing to report.
func (a Answer) finding(subject string) (f Finding, ok bool) {
	return Finding{Trap: a.trap, Basis: a.basis, Subjects: []string{subject}, Text: sentence(a.Text()), Fix: a.fix}, !a.Yes() && a.trap != ""
}

// sentence returns a phrase as a sentence. It does not change a path at the start.
func sentence(phrase string) string {
	first, _, _ := strings.Cut(phrase, " ")
	if !strings.Contains(first, "/") {
		phrase = strings.ToUpper(phrase[:1]) + phrase[1:]
	}
	return phrase + "."
}

// MarshalJSON writes a value of null for an unknown answer.
func (a Answer) MarshalJSON() ([]byte, error) {
	var value *bool
	if a.basis != Unknown {
		value = &a.yes
	}
	return term.Marshal(struct {
		Basis    Basis      `json:"basis"`
		Value    *bool      `json:"value"`
		Text     string     `json:"text"`
		Fix      string     `json:"fix,omitzero"`
		Evidence []Evidence `json:"evidence"`
	}{a.basis, value, a.Text(), a.fix, append([]Evidence{}, a.evidence...)})
}
