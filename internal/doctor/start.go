package doctor

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Start is the number of pods that a rebuild starts a workload with. If the number is
// unknown, it is between Low and High. The zero value is unknown.
type Start struct {
	Basis Basis  `json:"basis"`
	Low   int32  `json:"atLeast"` // in pods
	High  int32  `json:"atMost"`  // in pods; equal to Low unless Basis is unknown
	Text  string `json:"text"`
}

// exactly returns a known start.
func exactly(n int32, basis Basis, text string) Start { return Start{basis, n, n, text} }

// between returns an unknown start. It is between two numbers, or unknown although they are
// equal.
func between(low, high int32, text string) Start { return Start{Unknown, low, max(low, high), text} }

// Answers are the answers about the start of a workload with a level.
type Answers struct {
	Applied  Answer `json:"applied"`  // the cluster gets the level from git
	Bound    Answer `json:"bound"`    // the admission policy is the one in git, and raises the workload
	First    Answer `json:"first"`    // the level is in the cluster before the workload
	Created  Answer `json:"created"`  // a rebuild creates the workload
	Kept     Answer `json:"kept"`     // no tool resets the replicas later
	Positive Answer `json:"positive"` // the manifest does not state 0 replicas
	Admitted Answer `json:"admitted"` // the API server admits the workload at its level
}

// enters are the questions that decide whether the policy raises the workload.
func (a Answers) enters() []Answer { return []Answer{a.Bound, a.Applied, a.First} }

// all returns the answers in the order in which findings list them.
func (a Answers) all() []Answer {
	return []Answer{a.Bound, a.Applied, a.First, a.Created, a.Admitted, a.Positive, a.Kept}
}

// ones are the kinds whose default is 1 replica. A definition may set another default for a custom
// kind, and the nodes decide the pods of a DaemonSet.
var ones = []workload.Kind{workload.Deployment, workload.StatefulSet, workload.ArgoRollout}

// without returns the start of a workload of a kind without gitlatch. most is the highest count
// that the manifest may state.
func (m manifest) without(kind workload.Kind, created Answer, most int32) Start {
	start := Start{Basis: Observed, Text: m.text}
	switch {
	case m.basis == Unknown:
		start = between(0, most, m.text)
	case m.omits && slices.Contains(ones, kind):
		start.Low, start.High = 1, 1
	case m.omits:
		start = between(0, most, m.text+", and the default of the kind is unknown")
	case m.count == nil:
		start = between(m.least, most, m.text)
	default:
		start.Low, start.High = *m.count, *m.count
	}
	if !created.Yes() {
		return between(0, start.High, created.Text())
	}
	return start
}

// with returns the start of a workload with a level: at least the level if each answer is yes.
// Otherwise it is the start that the answers allow, or a range. tried is true if a user asked to
// try the creation.
func (a Answers) with(level int32, m manifest, without Start, tried bool) Start {
	enters := a.enters()
	blocked, no := lists.First(enters, Answer.No)
	open, unknown := lists.First(enters, func(one Answer) bool { return !one.Yes() })
	raised := max(level, without.Low)
	admission := "the API server admits it"
	if !tried {
		admission = "admission not tried"
	}
	switch {
	case a.Created.Yes() && a.Positive.No():
		return exactly(0, Observed, a.Positive.Text())
	case !a.Created.Yes():
		return between(0, max(level, without.High), a.Created.Text())
	case no:
		without.Text = blocked.Text()
		return without
	case a.Admitted.No() && !unknown:
		return exactly(0, Observed, a.Admitted.Text())
	case tried && !a.Admitted.Yes():
		return between(0, max(level, without.High), a.Admitted.Text())
	case a.Kept.No() && m.count != nil:
		return exactly(*m.count, Observed, fmt.Sprintf("floor %d, until the next apply resets the replicas to %d", level, *m.count))
	case unknown:
		return between(min(level, without.Low), max(level, without.High), open.Text())
	case !a.Positive.Yes():
		return between(0, max(raised, without.High), fmt.Sprintf("floor %d, unless the manifest states 0: %s", level, a.Positive.Text()))
	case !a.Kept.Yes():
		return between(without.Low, max(raised, without.High), fmt.Sprintf("floor %d, until a tool resets the replicas: %s", level, a.Kept.Text()))
	}
	basis := Observed
	if _, stated := lists.First(a.all(), func(one Answer) bool { return one.basis == Stated }); stated {
		basis = Stated
	}
	if without.High > raised { // the manifest may state more than the level
		return between(raised, without.High, fmt.Sprintf("floor %d, or the count of the manifest: %s", level, without.Text))
	}
	return exactly(raised, basis, fmt.Sprintf("floor %d (%s)", level, admission))
}

// String returns the number, or both limits: "50", "0 to 50".
func (s Start) String() string {
	if s.Low == s.High {
		return strconv.Itoa(int(s.Low))
	}
	return fmt.Sprintf("%d to %d", s.Low, s.High)
}
