package sns

import (
	"encoding/json"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// chat is a message as Amazon Q Developer in chat applications, once AWS Chatbot, shows
// it in Slack and Teams: a custom notification of version 1.0. What begins, lasts and
// ends is one thread.
func chat(n alert.Notice) (string, error) {
	content := map[string]any{
		"textType":    "client-markdown",
		"title":       icons[n.Severity] + n.Subject,
		"description": plain.Replace(n.Text),
		"keywords":    []string{n.Site, n.Kind, string(n.Severity)},
	}
	if n.Fix != "" {
		content["nextSteps"] = []string{plain.Replace(n.Fix)}
	}
	text, err := json.Marshal(map[string]any{
		"version": "1.0",
		"source":  "custom",
		"id":      n.ID,
		"content": content,
		"metadata": map[string]any{
			"threadId":          n.Thread,
			"summary":           n.Subject,
			"eventType":         n.Kind,
			"additionalContext": map[string]string{"site": n.Site, "severity": string(n.Severity), "state": n.State},
		},
	})
	return string(text), err
}

var icons = map[alert.Severity]string{alert.Critical: ":rotating_light: ", alert.Warning: ":warning: ", alert.Info: ""}

// plain takes from a text what a chat would take for a link or a person: names are
// data of the cluster.
var plain = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
