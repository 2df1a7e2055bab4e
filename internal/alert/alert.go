// Package alert turns the problems of a site into messages. Each condition sends a
// message when it starts, again after an interval while it lasts, and when it is over.
// The package does no I/O; its subpackages send the messages.
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

// A Condition is a problem that a user should know about. Conditions can be compared with
// ==.
type Condition struct {
	Kind Kind `json:"kind"`
	// Subject is the workload, branch or cluster with the problem; "" is the site. There
	// is one condition for each kind and subject.
	Subject string `json:"subject,omitempty"`
	// Title is the first line of a message, with the object and numbers; "" is the kind
	// and the subject.
	Title string `json:"title,omitempty"`
	Text  string `json:"text"` // a sentence with the numbers, shortened by Brief
	// Effect is the effect, as in "gitlatch lowers no level" or "its checkpoint is 200:
	// ..."; "" if there is no effect.
	Effect string `json:"effect,omitempty"`
	Fix    string `json:"fix"` // the remedy, if possible a command or a field to paste
}

// longest is the limit of a text in a message, in bytes. Users read messages on a phone,
// and SNS accepts 256 KiB for a message that contains the text more than once.
const longest = 4 << 10

// Brief returns a text cut to the limit of a message, with the number of bytes cut off.
func Brief(text string) string {
	if len(text) <= longest {
		return text
	}
	told := strings.ToValidUTF8(text[:longest], "")
	return fmt.Sprintf("%s... and %d bytes more", told, len(text)-len(told))
}

// Kind is a stable name of a condition. Filters and runbooks depend on it.
type Kind string

// The kinds of conditions of a site.
const (
	MassDrop       Kind = "mass-drop"          // many workloads halved at once
	SecondCluster  Kind = "second-cluster"     // two live clusters share a site
	ClusterNew     Kind = "cluster-changed"    // another cluster has ticks for the site
	Blocked        Kind = "publishing-blocked" // the repository rejects pushes
	Stale          Kind = "checkpoint-stale"   // a level change is not published
	Unread         Kind = "unread"             // a part of the cluster cannot be read
	Unmeasured     Kind = "demand-unread"      // a source of demand does not answer
	Rewritten      Kind = "branch-rewritten"   // the branch does not descend from the last known commit
	Invalid        Kind = "invalid-in-git"     // a policy or checkpoint file on the branch is invalid, or the policy is gone
	EntriesRemoved Kind = "entries-removed"    // a user's commit removed many entries of workloads that are in the cluster
	Retirement     Kind = "mass-retirement"    // the entries of many workloads would be removed at once
	NotApplied     Kind = "not-applied"        // the levels in git do not come into the cluster
	DoesNotFit     Kind = "does-not-fit"       // the pods of a rebuild can no longer be placed; a drill reports it
)

// The kinds of conditions of a workload.
const (
	Surge          Kind = "surge"            // a committed level change exceeds the policy's surge
	Zero           Kind = "unexpected-zero"  // it has 0 replicas, although its autoscaler would not scale it to zero
	NotLoad        Kind = "not-load-driven"  // it grew although no metric asks for more pods
	WorkPerRequest Kind = "work-per-request" // it has far more pods than usual for the same demand
	Override       Kind = "human-override"   // a user wrote replicas that an autoscaler manages
	Mismatch       Kind = "bounds-mismatch"  // the live minimum and maximum differ from the entry in git
	Capped         Kind = "capped-by-git"    // the desired replicas are above the maximum in git
	BrakeLeft      Kind = "brake-left"       // the brake of a restore is still there after its end
)

// Severity is how soon a user should react.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // now: checkpoints are not up to date, or live workloads do not do their work
	Warning  Severity = "warning"  // today
)

// kinds has the severity of each kind. An event has no duration and is never resolved. An
// anomaly is about one workload and not about the site.
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
	NotApplied:     {severity: Warning},
	DoesNotFit:     {severity: Warning, event: true},

	Surge:          {severity: Warning, event: true, anomaly: true},
	Zero:           {severity: Critical, anomaly: true},
	NotLoad:        {severity: Warning, anomaly: true},
	WorkPerRequest: {severity: Warning, anomaly: true},
	Override:       {severity: Warning, anomaly: true},
	Mismatch:       {severity: Warning, anomaly: true},
	Capped:         {severity: Warning, anomaly: true},
	BrakeLeft:      {severity: Warning, anomaly: true},
}

// Kinds returns all kinds, sorted.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

// Severity returns how severe the kind is.
func (k Kind) Severity() Severity { return kinds[k].severity }

// Anomaly reports whether the kind is about one unusual workload.
func (k Kind) Anomaly() bool { return kinds[k].anomaly }

// An Open is a condition that is not over.
type Open struct {
	Condition
	Since  time.Time `json:"since"`
	Raised time.Time `json:"raised"` // time of the last message about it
}

// An Alert is one message.
type Alert struct {
	// ID identifies the message. A message that is sent again, because its delivery is
	// not confirmed, has the same ID.
	ID   string `json:"id"`
	Site string `json:"site"`
	Condition
	Severity Severity  `json:"severity"`
	State    State     `json:"state"`
	Since    time.Time `json:"since"`
	At       time.Time `json:"at"`
}

// State is the state of the condition in an alert.
type State string

// The states.
const (
	Raised   State = "raised"
	Lasting  State = "lasting" // sent again because the condition continues
	Resolved State = "resolved"
)

// Advance compares the present conditions with the open ones. It returns the conditions
// that are open now, and the messages to send. For a condition that lasts, it returns a
// message after each interval. An open condition from after at, because a clock was ahead,
// counts from at.
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
			if was.Raised.After(at) {
				was.Raised = at
			}
			if was.Since.After(at) {
				was.Since = at
			}
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

// sorted returns the conditions by kind and subject, without repetitions.
func sorted(conditions []Condition) []Condition {
	s := slices.SortedStableFunc(slices.Values(conditions), func(a, b Condition) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(s, func(a, b Condition) bool { return a.key() == b.key() })
}

// Headline returns the first line of the alert, such as "[critical] gitlatch prod: unread
// deployments".
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

// Message returns the text of the alert for users. Its first line has the severity, the
// object and the numbers.
func (a Alert) Message() string {
	text := a.Headline()
	rest, repeated := strings.CutPrefix(a.Text, a.Subject+":") // as the text about a file does
	switch {
	case a.Title != "": // it has the numbers
		text += "\n\n" + a.Text + "\n"
	case repeated:
		text += ":" + rest + "\n"
	default:
		text += ": " + a.Text + "\n"
	}
	began := a.Since.UTC().Format(time.RFC3339)
	if a.State == Resolved {
		return text + "The condition is over. It started at " + began + ".\n"
	}
	if !a.Since.Equal(a.At) {
		text += "It started at " + began + ".\n"
	}
	text += "\n"
	if a.Effect != "" {
		text += "Effect: " + a.Effect + "\n"
	}
	return text + "Fix:    " + a.Fix + "\nHelp:   " + a.help() + "gitlatch help troubleshooting\n"
}

// help returns the lines about the runbook: a lost cluster comes with a critical alert, and
// a rebuilt one with ClusterNew.
func (a Alert) help() string {
	if a.Severity != Critical && a.Kind != ClusterNew {
		return ""
	}
	return "gitlatch help runbook, if the cluster is lost or rebuilt\n        "
}
