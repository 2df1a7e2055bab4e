package alert

import (
	"encoding/json"
	"strings"
)

// A Notice is a message that is sent once and does not belong to an open condition.
type Notice struct {
	ID       string
	Site     string
	Kind     string // a stable name, for the filters of subscribers
	Severity Severity
	State    string
	Subject  string // one line
	Thread   string // the same for all messages about one condition
	Text     string // for users
	Fix      string // the remedy, which Text also contains; "" for no remedy
	Document []byte // for programs, as JSON
}

// Info is the severity of a message that requires no action.
const Info Severity = "info"

// Notice converts the alert to a message.
func (a Alert) Notice() (Notice, error) {
	document, err := json.Marshal(a)
	n := Notice{
		ID: a.ID, Site: a.Site, Kind: string(a.Kind), Severity: a.Severity, State: string(a.State),
		Subject: a.Headline(), Text: a.Message(), Document: document,
	}
	n.Thread = "gitlatch " + a.Site + ": " + strings.TrimSpace(string(a.Kind)+" "+a.Condition.Subject)
	if a.State != Resolved {
		n.Fix = a.Fix
	}
	return n, err
}
