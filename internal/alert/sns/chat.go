package sns

import (
	"encoding/json"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// A notification is what Amazon Q Developer in chat applications, once AWS Chatbot,
// shows in Slack and Teams: a custom notification of version 1.0.
type notification struct {
	Version string `json:"version"`
	Source  string `json:"source"`
	ID      string `json:"id"`
	Content struct {
		TextType    string   `json:"textType"`
		Title       string   `json:"title"`
		Description string   `json:"description"`
		NextSteps   []string `json:"nextSteps,omitempty"`
		Keywords    []string `json:"keywords"`
	} `json:"content"`
	Metadata struct {
		ThreadID  string            `json:"threadId"`
		Summary   string            `json:"summary"`
		EventType string            `json:"eventType"`
		Context   map[string]string `json:"additionalContext"`
	} `json:"metadata"`
}

// chat is a message as a notification. What begins, lasts and ends is one thread.
func chat(n alert.Notice) (string, error) {
	v := notification{Version: "1.0", Source: "custom", ID: n.ID}
	c := &v.Content
	c.TextType = "client-markdown"
	c.Title = icons[n.Severity] + n.Subject
	c.Description = plain.Replace(n.Text)
	c.Keywords = []string{n.Site, n.Kind, string(n.Severity)}
	if n.Do != "" {
		c.NextSteps = []string{plain.Replace(n.Do)}
	}
	m := &v.Metadata
	m.ThreadID = n.Thread
	m.Summary = n.Subject
	m.EventType = n.Kind
	m.Context = map[string]string{"site": n.Site, "severity": string(n.Severity), "state": n.State}
	text, err := json.Marshal(v)
	return string(text), err
}

var icons = map[alert.Severity]string{alert.Critical: ":rotating_light: ", alert.Warning: ":warning: ", alert.Info: ""}

// plain takes from a text what a chat would take for a link or a person: names are
// data of the cluster.
var plain = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
