package doctor_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// web has a level of 200. Each case sets the requests of its pods.
func TestAQuotaIsHeldAgainstWhatThePodsAskFor(t *testing.T) {
	t.Parallel()
	const half, none = "{spec: {containers: [{name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}", "{spec: {containers: [{name: main}]}}"
	found := func(text string) string {
		name := text[strings.LastIndex(text, " ")+1:]
		return "In namespace shop, a rebuild needs " + text[:strings.LastIndex(text, " ")] + ". A rebuild cannot start all pods. in spec.hard of ResourceQuota shop/pods, set " + name + " to \"100\" or more"
	}
	for name, c := range map[string]struct {
		template, quota string
		more            workload.ID // another workload with a level of 200
		room            int64       // of shop; 0 means enough for every pod
		text            string
	}{
		"just enough":             {half, `{hard: {requests.cpu: "100", memory: 200Gi}}`, workload.ID{}, 0, ""},
		"one pod too few":         {half, `{hard: {requests.cpu: 99.9}}`, workload.ID{}, 199, found("100 requests.cpu, but ResourceQuota shop/pods allows only 99.9 requests.cpu")},
		"by its short name":       {half, `{hard: {cpu: "50"}}`, workload.ID{}, 100, found("100 cpu, but ResourceQuota shop/pods allows only 50 cpu")},
		"what nobody limits":      {half, `{hard: {limits.cpu: "1"}}`, workload.ID{}, 0, ""},
		"nothing asked for":       {none, `{hard: {requests.cpu: "1"}}`, workload.ID{}, 0, ""},
		"nothing at all":          {half, `{hard: {requests.cpu: "0"}}`, workload.ID{}, 0, found("100 requests.cpu, but ResourceQuota shop/pods allows only 0 requests.cpu")},
		"with a scope":            {half, `{hard: {requests.cpu: "50"}, scopes: [NotBestEffort, NotTerminating]}`, workload.ID{}, 0, ""},
		"of some priority":        {half, `{hard: {requests.cpu: "50"}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}`, workload.ID{}, 0, ""},
		"a number of pods":        {none, `{hard: {pods: "50"}}`, workload.ID{}, 50, "In namespace shop, a rebuild needs 200 pods, but ResourceQuota shop/pods allows only 50. A rebuild cannot start all pods. in spec.hard of ResourceQuota shop/pods, set pods to \"200\" or more"},
		"of one that is not live": {half, `{hard: {requests.cpu: "50"}}`, workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}, 200, found("100 requests.cpu, but ResourceQuota shop/pods allows only 50 requests.cpu")},
		"of one elsewhere":        {half, `{hard: {requests.cpu: "100"}}`, workload.ID{Namespace: "pay", Kind: workload.Deployment, Name: "web"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.objects["web"] = "kind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 42, template: " + c.template + "}\n"
			w.objects["quota"] = "kind: ResourceQuota\nmetadata: {name: pods, namespace: shop}\nspec: " + c.quota + "\n"
			w.change = func(one *doctor.Case) {
				one.Tree.Records["shop"].Entries[web] = checkpoint.Entry{Replicas: 200}
				if c.more != (workload.ID{}) {
					one.Tree.Records[c.more.Namespace] = checkpoint.Record{Namespace: c.more.Namespace, Entries: one.Tree.Records[c.more.Namespace].Entries}
					if one.Tree.Records[c.more.Namespace].Entries == nil {
						one.Tree.Records[c.more.Namespace] = checkpoint.Record{Namespace: c.more.Namespace, Entries: map[workload.ID]checkpoint.Entry{}}
					}
					one.Tree.Records[c.more.Namespace].Entries[c.more] = checkpoint.Entry{Replicas: 200}
				}
			}
			r := doctor.Examine(w.read(t))
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
