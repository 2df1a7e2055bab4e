package sns

import (
	"encoding/json"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// chat returns a message as a custom notification of version 1.0. Amazon Q Developer in
// chat applications, formerly AWS Chatbot, shows it in Slack and Teams. All messages
// about one condition are in one thread.
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

// plain escapes the characters that mark links and mentions in a chat. The names in a
// text come from the cluster.
var plain = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
