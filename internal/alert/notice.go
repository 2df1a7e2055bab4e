package alert

// A Notice is a message that is about no condition: it is said once.
type Notice struct {
	ID       string
	Site     string
	Kind     string // a stable name, by which subscribers filter
	Severity Severity
	State    string
	Subject  string // a line
	Text     string // for people
	Document []byte // for machines, as JSON
}

// Info is the severity of what nobody has to look at.
const Info Severity = "info"
