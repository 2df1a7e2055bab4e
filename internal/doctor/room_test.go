package doctor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/fit"
	set "github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// node returns a Node.
func node(cpu int, provider string) string {
	return fmt.Sprintf("---\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\nspec: {providerID: %q}\nstatus: {allocatable: {cpu: %d, pods: 500}}\n", provider, cpu)
}

// pods returns a workload whose pods request an amount of CPU.
func pods(kind, name string, replicas int, cpu string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: %s\nmetadata: {name: %s, namespace: shop}\nspec: {replicas: %d, template: {spec: {containers: [{name: main, resources: {requests: {cpu: %s}}}]}}}\n", kind, name, replicas, cpu)
}

// web has a level of 200, and its pods request 500m of CPU.
func TestAnAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cluster string
		fail    string // a kind that cannot be listed
		standby string
		account doctor.Account
		want    string
	}{
		"enough nodes":            {cluster: node(100, ""), want: "fits, 200 of 200 pods"},
		"too few nodes":           {cluster: node(99, ""), want: "does not fit, 198 of 200 pods, nodes"},
		"another live workload":   {cluster: node(101, "") + pods("StatefulSet", "db", 2, "1"), want: "does not fit, 201 of 202 pods, nodes"},
		"a DaemonSet":             {cluster: node(100, "") + pods("DaemonSet", "agent", 0, "1"), want: "does not fit, 198 of 200 pods, nodes"},
		"no nodes":                {want: "unknown, 0 of 200 pods, not read: nodes"},
		"nodes are forbidden":     {fail: "Node", want: "unknown, 0 of 200 pods, not read: nodes, nodes"},
		"quotas are forbidden":    {cluster: node(100, ""), fail: "ResourceQuota", want: "unknown, 200 of 200 pods, not read: resourcequotas"},
		"a LimitRange":            {cluster: node(100, ""), fail: "LimitRange", want: "unknown, 200 of 200 pods, not read: limitranges"},
		"workloads are forbidden": {cluster: node(100, ""), fail: "StatefulSet", want: "unknown, 200 of 200 pods, not read: statefulsets.apps"},
		"no requests":             {cluster: node(100, "") + "---\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec: {replicas: 1}\n", want: "unknown, 200 of 200 pods, not read: requests of shop/statefulset/db"},
		"an account that is not":  {cluster: node(100, "aws:///a/i-1"), want: "unknown, 200 of 200 pods, not read: vCPU quotas and free addresses of the subnets"},
		"an account":              {cluster: node(100, "aws:///a/i-1"), account: func(_ context.Context, room fit.Room, _ *set.Set) fit.Room { return room }, want: "fits, 200 of 200 pods"},
		"an account in part":      {cluster: node(100, "aws:///a/i-1"), account: denied, want: "unknown, 200 of 200 pods, not read: quota"},
		"a standby cluster":       {cluster: node(1, "") + pods("StatefulSet", "db", 2, "1"), standby: node(101, ""), want: "does not fit, 201 of 202 pods, nodes"},
		"a standby that has more": {cluster: node(1, ""), standby: node(100, "") + pods("StatefulSet", "db", 2, "1"), want: "does not fit, 200 of 202 pods, nodes"},
		"a standby with the same": {cluster: pods("StatefulSet", "db", 2, "1"), standby: node(102, "") + pods("StatefulSet", "db", 9, "1"), want: "fits, 202 of 202 pods"},
		"a failed list here":      {cluster: node(1, ""), fail: "LimitRange", standby: node(100, ""), want: "unknown, 200 of 200 pods, not read: limitranges"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.objects = map[string]string{}
			add(w, pods("Deployment", "web", 180, "500m")+pods("DaemonSet", "proxy", 0, "0")+"---\nkind: ResourceQuota\nmetadata: {name: pods, namespace: shop}\nspec: {hard: {pods: \"202\"}}\n"+c.cluster)
			w.fail = c.fail
			var standby doctor.Lister
			if c.standby != "" {
				other := newWorld()
				other.objects = map[string]string{}
				add(other, c.standby)
				standby = other
			}
			w.change = func(one *doctor.Case) { one.Tree.Records["shop"].Entries[web] = checkpoint.Entry{Replicas: 200} }
			seen := w.read(t)
			seen.ReadRoom(t.Context(), standby, c.account)
			r := doctor.Examine(seen)
			got := fmt.Sprintf("%s, %d of %d pods", r.Fit.Verdict, r.Fit.Placed, r.Fit.Pods)
			if r.Fit.Limit != nil {
				got += ", " + r.Fit.Limit.Name
			}
			if len(r.Fit.Unknown) > 0 {
				got += ", not read: " + strings.Join(lists.Map(r.Fit.Unknown, func(r fit.Reading) string { return r.Name }), ", ")
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if unread := slices.Contains([]string{"ResourceQuota", "StatefulSet"}, c.fail); unread != (len(r.Unread) > 0) {
				t.Errorf("unread %q", r.Unread)
			}
			if refused := r.Fit.Verdict == fit.DoesNotFit; refused && r.Clean() {
				t.Error("clean")
			}
		})
	}
}

// denied is an account whose quotas cannot be read.
func denied(_ context.Context, room fit.Room, _ *set.Set) fit.Room {
	room.Unknown = append(room.Unknown, fit.Reading{Name: "quota", Why: "AccessDenied"})
	return room
}

// add adds the documents of a text to a world.
func add(w *world, text string) {
	for i, one := range strings.Split(strings.TrimPrefix(text, "---\n"), "---\n") {
		w.objects[fmt.Sprintf("%s %d", one[:min(len(one), 30)], i)] = one
	}
}
