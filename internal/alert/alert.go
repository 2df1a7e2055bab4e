// Package alert turns what is wrong at a site into messages that a person gets
// once: when it begins, again after an interval while it lasts, and when it is
// over. It is pure; what sends the messages is below this package.
package alert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Condition is something that a person should know of. Conditions compare
// with ==.
type Condition struct {
	Kind Kind `json:"kind"`
	// Subject is what it is about, beside the site: a workload, a branch, a
	// cluster. Of one kind and subject there is one condition.
	Subject string `json:"subject,omitempty"`
	// Title is what the first line of a message says, with object and numbers; "" is the
	// kind and the subject.
	Title string `json:"title,omitempty"`
	Text  string `json:"text"` // a sentence with the numbers, no longer than Brief leaves it
	// Effect is the effect, as in "gitlatch lowers no level" or "its checkpoint is 200: ...";
	// "" is none.
	Effect string `json:"effect,omitempty"`
	Fix    string `json:"fix"` // the remedy, if possible a command or a field to paste
}

// longest is how many bytes of a text a message tells: it is read on a phone, and
// what carries it takes 256 KiB of messages that hold the text some times over.
const longest = 4 << 10

// Brief is a text as far as a message tells it, and how much more there is.
func Brief(text string) string {
	if len(text) <= longest {
		return text
	}
	told := strings.ToValidUTF8(text[:longest], "")
	return fmt.Sprintf("%s... and %d bytes more", told, len(text)-len(told))
}

// Kind is a stable name for a condition: filters and runbooks go by it.
type Kind string

// The kinds of a whole site.
const (
	MassDrop       Kind = "mass-drop"          // much of the fleet halved at once
	SecondCluster  Kind = "second-cluster"     // two live clusters share a site
	ClusterNew     Kind = "cluster-changed"    // another cluster ticks under the site's name
	Blocked        Kind = "publishing-blocked" // the repository takes no push
	Stale          Kind = "checkpoint-stale"   // a crossing waits unpublished
	Unread         Kind = "unread"             // part of the cluster cannot be read
	Unmeasured     Kind = "demand-unread"      // what measures demand does not answer
	Rewritten      Kind = "branch-rewritten"   // the branch does not descend from what was agreed
	Invalid        Kind = "invalid-in-git"     // a policy or record on the branch cannot be read, or the policy is gone
	EntriesRemoved Kind = "entries-removed"    // a user's commit removed many entries of workloads that are in the cluster
	Retirement     Kind = "mass-retirement"    // many workloads would retire at once
	RuleGone       Kind = "rule-gone"          // what kept checkpoints inert does so no more; a drill finds it
)

// The kinds of a workload.
const (
	Surge          Kind = "surge"            // a crossing beyond the policy's surge was committed
	Zero           Kind = "unexpected-zero"  // it is at zero, and its autoscaler would not have that
	NotLoad        Kind = "not-load-driven"  // it grew, and no metric asks for that
	WorkPerRequest Kind = "work-per-request" // it needs far more pods for the same demand
	Override       Kind = "human-override"   // a person wrote a count that an autoscaler drives
	Mismatch       Kind = "bounds-mismatch"  // live bounds are not those that git accepted
	Capped         Kind = "capped-by-git"    // the need is above the max that git accepted
	BrakeLeft      Kind = "brake-left"       // a restore's brake stays beyond its end
)

// Severity is how soon a person should look.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // the checkpoint is not kept, or what runs does not do its work: now
	Warning  Severity = "warning"  // today
)

// kinds say of each kind how severe it is, whether it is an event, which has no
// duration and is never over, and whether it is an anomaly: of one workload, not
// of the site.
var kinds = map[Kind]struct {
	severity       Severity
	event, anomaly bool
}{
	MassDrop:       {severity: Critical},
	SecondCluster:  {severity: Critical},
	ClusterNew:     {severity: Warning},
	Blocked:        {severity: Critical},
	Stale:          {severity: Critical},
	Unread:         {severity: Warning},
	Unmeasured:     {severity: Warning},
	Rewritten:      {severity: Warning, event: true},
	Invalid:        {severity: Critical},
	EntriesRemoved: {severity: Critical},
	Retirement:     {severity: Warning},
	RuleGone:       {severity: Warning, event: true},

	Surge:          {severity: Warning, event: true, anomaly: true},
	Zero:           {severity: Critical, anomaly: true},
	NotLoad:        {severity: Warning, anomaly: true},
	WorkPerRequest: {severity: Warning, anomaly: true},
	Override:       {severity: Warning, anomaly: true},
	Mismatch:       {severity: Warning, anomaly: true},
	Capped:         {severity: Warning, anomaly: true},
	BrakeLeft:      {severity: Warning, anomaly: true},
}

// Kinds are all kinds, sorted.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

// Severity returns how severe the kind is.
func (k Kind) Severity() Severity { return kinds[k].severity }

// Anomaly reports whether the kind is out of the ordinary with one workload.
func (k Kind) Anomaly() bool { return kinds[k].anomaly }

// An Open is a condition that lasts.
type Open struct {
	Condition
	Since  time.Time `json:"since"`
	Raised time.Time `json:"raised"` // when a message last said so
}

// An Alert is one message.
type Alert struct {
	// ID is the same whenever the message is sent again because it is not known
	// to have arrived.
	ID   string `json:"id"`
	Site string `json:"site"`
	Condition
	Severity Severity  `json:"severity"`
	State    State     `json:"state"`
	Since    time.Time `json:"since"`
	At       time.Time `json:"at"`
}

// State is what an alert says of its condition.
type State string

// The states.
const (
	Raised   State = "raised"
	Lasting  State = "lasting" // said again, since it goes on
	Resolved State = "resolved"
)

// Advance compares the conditions of now with those that were open, and returns
// those that are open now and the messages that follow. A condition that lasts
// is said again every interval.
func Advance(site string, open []Open, now []Condition, at time.Time, every time.Duration) ([]Open, []Alert) {
	var next []Open
	var alerts []Alert
	say := func(c Condition, state State, since time.Time) {
		alerts = append(alerts, newAlert(site, c, state, since, at))
	}
	for _, c := range sorted(now) {
		if kinds[c.Kind].event {
			say(c, Raised, at)
			continue
		}
		was := Open{Since: at, Raised: at}
		i := slices.IndexFunc(open, func(o Open) bool { return o.key() == c.key() })
		switch {
		case i < 0:
			say(c, Raised, at)
		default:
			was = open[i]
			if at.Sub(was.Raised) >= every {
				was.Raised = at
				say(c, Lasting, was.Since)
			}
		}
		next = append(next, Open{Condition: c, Since: was.Since, Raised: was.Raised})
	}
	for _, o := range open {
		if !slices.ContainsFunc(next, func(n Open) bool { return n.key() == o.key() }) {
			say(o.Condition, Resolved, o.Since)
		}
	}
	return next, alerts
}

func newAlert(site string, c Condition, state State, since, at time.Time) Alert {
	sum := sha256.Sum256([]byte(strings.Join([]string{site, c.key(), string(state), at.UTC().Format(time.RFC3339Nano)}, "\x00")))
	return Alert{
		ID: hex.EncodeToString(sum[:8]), Site: site, Condition: c,
		Severity: c.Kind.Severity(), State: state, Since: since, At: at,
	}
}

func (c Condition) key() string { return string(c.Kind) + "\x00" + c.Subject }

// sorted returns the conditions by kind and subject, each once.
func sorted(conditions []Condition) []Condition {
	s := slices.SortedStableFunc(slices.Values(conditions), func(a, b Condition) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(s, func(a, b Condition) bool { return a.key() == b.key() })
}

// Headline is the first line of the alert: "[critical] gitlatch prod: unread deployments".
func (a Alert) Headline() string {
	severity := string(a.Severity)
	switch a.State {
	case Lasting:
		severity += ", lasting"
	case Resolved:
		severity = string(Resolved)
	}
	about := cmp.Or(a.Title, strings.TrimSpace(string(a.Kind)+" "+a.Subject))
	return fmt.Sprintf("[%s] gitlatch %s: %s", severity, a.Site, about)
}

// Message is the alert for a person.
func (a Alert) Message() string {
	text := a.Headline() + "\n\n" + a.Text + "\n"
	began := a.Since.UTC().Format(time.RFC3339)
	if a.State == Resolved {
		return text + "This is over; it began at " + began + ".\n"
	}
	if !a.Since.Equal(a.At) {
		text += "It began at " + began + ".\n"
	}
	text += "\n"
	if a.Effect != "" {
		text += "Effect: " + a.Effect + "\n"
	}
	return text + "Fix:    " + a.Fix + "\nHelp:   gitlatch help alerts\n"
}
