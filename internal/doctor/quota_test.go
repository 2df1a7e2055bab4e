package doctor_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

// web has a level of 200. Each case sets the requests of its pods.
func TestAQuotaIsHeldAgainstWhatThePodsAskFor(t *testing.T) {
	t.Parallel()
	const half, none = "{spec: {containers: [{name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}", "{spec: {containers: [{name: main}]}}"
	found := func(text string) string {
		name := text[strings.LastIndex(text, " ")+1:]
		return "The levels of the namespace add up to " + text + ". A rebuild cannot start the remaining pods. set " + name + ": \"100\" or more in spec.hard of ResourceQuota pods"
	}
	for name, c := range map[string]struct {
		template, quota, declared string
		room                      int64 // of shop; 0 means enough for every pod
		text                      string
	}{
		"just enough":              {half, `{hard: {requests.cpu: "100", memory: 200Gi}}`, "", 0, ""},
		"one pod too few":          {half, `{hard: {requests.cpu: 99.9}}`, "", 199, found("100 requests.cpu, but ResourceQuota pods allows only 99900m requests.cpu")},
		"by its short name":        {half, `{hard: {cpu: "50"}}`, "", 100, found("100 cpu, but ResourceQuota pods allows only 50 cpu")},
		"what nobody limits":       {half, `{hard: {limits.cpu: "1"}}`, "", 0, ""},
		"nothing asked for":        {none, `{hard: {requests.cpu: "1"}}`, "", 0, ""},
		"nothing at all":           {half, `{hard: {requests.cpu: "0"}}`, "", 0, found("100 requests.cpu, but ResourceQuota pods allows only 0 requests.cpu")},
		"of what asks for any":     {half, `{hard: {requests.cpu: "50"}, scopes: [NotBestEffort, NotTerminating]}`, "", 100, found("100 requests.cpu, but ResourceQuota pods allows only 50 requests.cpu")},
		"of other pods":            {half, `{hard: {requests.cpu: "50"}, scopes: [Terminating]}`, "", 0, ""},
		"of some priority":         {half, `{hard: {requests.cpu: "50"}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}`, "", 0, ""},
		"pods with requests":       {half, `{hard: {pods: "50"}, scopes: [NotBestEffort]}`, "", 50, "The levels of the namespace add up to 200 pods, but ResourceQuota pods allows only 50 pods. A rebuild cannot start the remaining pods. set pods: \"200\" or more in spec.hard of ResourceQuota pods"},
		"pods without requests":    {none, `{hard: {pods: "50"}, scopes: [NotBestEffort]}`, "", 0, ""},
		"of one that no build has": {half, `{hard: {requests.cpu: "50"}}`, "shop/deployment/api 200 3 500\n", 200, found("100 requests.cpu (without 200 of 400 pods, which have no requests in a built folder), but ResourceQuota pods allows only 50 requests.cpu")},
		"of one elsewhere":         {half, `{hard: {requests.cpu: "100"}}`, "pay/deployment/web 200 3 500\n", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, "flux")
			f["declared"] += c.declared
			f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-spec: {hard: {pods: \"200\"}}\n+spec: "+c.quota+"\n")
			f["repo/apps/shop/web.yaml"] = edited(t, f["repo/apps/shop/web.yaml"], "-spec: {selector: {}}\n+spec: {selector: {}, template: "+c.template+"}\n")
			r := f.examine(t)
			text, room := "", map[string]int64{}
			for _, one := range r.Findings {
				if one.Trap == doctor.Quota {
					text += one.Text + " " + one.Fix
				}
			}
			if c.text != "" {
				room["shop"] = c.room
			}
			if text != c.text || !maps.Equal(r.Room, room) {
				t.Errorf("want %q and room of %v:\n%q, %v", c.text, room, text, r.Room)
			}
		})
	}
}
