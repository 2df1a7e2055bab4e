package doctor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/term"
)

// node returns a Node.
func node(cpu int, provider string) string {
	return fmt.Sprintf("---\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\nspec: {providerID: %q}\nstatus: {allocatable: {cpu: %d, pods: 500}}\n", provider, cpu)
}

// pods returns a workload whose pods request an amount of CPU.
func pods(kind, name string, replicas int, cpu string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: %s\nmetadata: {name: %s, namespace: shop}\nspec: {replicas: %d, template: {spec: {containers: [{name: main, resources: {requests: {cpu: %s}}}]}}}\n", kind, name, replicas, cpu)
}

// web has a level of 200, and its pods request 500m of CPU. The limit of nodes is their CPU.
func TestAnAnswer(t *testing.T) {
	t.Parallel()
	app := pods("Deployment", "web", 180, "500m")
	for name, c := range map[string]struct {
		cluster string
		fail    string // a kind that cannot be listed
		standby string
		account doctor.Account
		want    string
	}{
		"enough nodes":             {cluster: node(200, "") + app, want: "likely fits, 200 pods, nodes cpu 50 %"},
		"close":                    {cluster: node(125, "") + app, want: "close, 200 pods, nodes cpu 80 %"},
		"too few nodes":            {cluster: node(99, "") + app, want: "does not fit, 200 pods, nodes cpu 101 %"},
		"another live workload":    {cluster: node(101, "") + app + pods("StatefulSet", "db", 2, "1"), want: "does not fit, 202 pods, nodes cpu 100.9 %"},
		"a DaemonSet":              {cluster: node(180, "") + app + pods("DaemonSet", "agent", 0, "100"), want: "close, 200 pods, nodes cpu 55.5 %"},
		"a Cluster Autoscaler":     {cluster: node(99, "") + app + pods("Deployment", "cluster-autoscaler", 1, "1"), want: "unknown, 201 pods, nodes: the Cluster Autoscaler may add nodes, and gitlatch does not read its limits"},
		"a cloud that is not read": {cluster: node(99, "gce://p/z/n1") + app, want: "unknown, 200 pods, nodes: the cloud may add nodes. On AWS, use --aws"},
		"a node that is not ready": {cluster: strings.Replace(node(200, ""), "status: {", "status: {conditions: [{type: Ready, status: Unknown}], ", 1) + app, want: "unknown, 200 pods, nodes: the cluster lists no nodes and no NodePools"},
		"no nodes":                 {cluster: app, want: "unknown, 200 pods, nodes: the cluster lists no nodes and no NodePools"},
		"nodes are forbidden":      {cluster: app, fail: "Node", want: "unknown, 200 pods, nodes: cannot list nodes: timeout. Apply infra/rbac/doctor"},
		"quotas are forbidden":     {cluster: node(200, "") + app, fail: "ResourceQuota", want: "unknown, 200 pods, resourcequotas: cannot list resourcequotas: timeout. Apply infra/rbac/doctor"},
		"a LimitRange":             {cluster: node(200, "") + app, fail: "LimitRange", want: "unknown, 200 pods, nodes cpu 50 %"},
		"workloads are forbidden":  {cluster: node(200, "") + app, fail: "StatefulSet", want: "unknown, 200 pods, nodes cpu 50 %"},
		"no requests":              {cluster: node(200, "") + app + "---\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec: {replicas: 1}\n", want: "unknown, 200 pods, nodes cpu 50 %"},
		"no live workload":         {cluster: node(200, ""), want: "unknown, 0 pods, requests of shop/deployment/web: the cluster has no object with its pod template"},
		"an account that is not":   {cluster: node(200, "aws:///a/i-1") + app, want: "unknown, 200 pods, node groups, vCPU quotas and free addresses: gitlatch did not read the AWS account. Use --aws"},
		"an account":               {cluster: node(200, "aws:///a/i-1") + app, account: empty, want: "likely fits, 200 pods, nodes cpu 50 %"},
		"an account in part":       {cluster: node(200, "aws:///a/i-1") + app, account: denied, want: "unknown, 200 pods, vCPU quotas: Allow servicequotas:ListServiceQuotas"},
		"too few with an unknown":  {cluster: node(99, "aws:///a/i-1") + app, account: denied, want: "does not fit, 200 pods, nodes cpu 101 %"},
		"a standby cluster":        {cluster: node(1, "") + app + pods("StatefulSet", "db", 2, "1"), standby: node(101, ""), want: "does not fit, 202 pods, nodes cpu 100.9 %"},
		"a standby that has more":  {cluster: node(1, "") + app, standby: node(100, "") + pods("StatefulSet", "db", 2, "1"), want: "does not fit, 202 pods, nodes cpu 102 %"},
		"a failed list here":       {cluster: node(1, "") + app, fail: "LimitRange", standby: node(200, ""), want: "unknown, 200 pods, nodes cpu 50 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.objects = map[string]string{}
			add(w, "kind: ResourceQuota\nmetadata: {name: pods, namespace: shop}\nspec: {hard: {pods: \"202\"}}\n"+c.cluster)
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
			first := r.Fit.Limits[0]
			for _, l := range r.Fit.Limits {
				if l.Name == "nodes" && l.Resource == "cpu" && l.Answer == r.Fit.Answer {
					first = l
				}
			}
			got := fmt.Sprintf("%s, %d pods, %s: %s", r.Fit.Answer, r.Fit.Pods, first.Name, first.Why)
			if first.Asked != nil {
				got = fmt.Sprintf("%s, %d pods, %s %s %s", r.Fit.Answer, r.Fit.Pods, first.Name, first.Resource, term.Percent(first.Share()))
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, strings.Join(r.Fit.Lines(), "\n"))
			}
			if r.Clean() == (len(r.Unread)+len(r.Findings) > 0 || r.Fit.Answer == room.DoesNotFit) {
				t.Errorf("clean %v: %q, %v, %s", r.Clean(), r.Unread, r.Findings, r.Fit.Answer)
			}
		})
	}
}

func empty(context.Context, []string) limits.Account { return limits.Account{} }

// denied is an account whose quotas cannot be read.
func denied(context.Context, []string) limits.Account {
	return limits.Account{Missing: []limits.Missing{{Value: "vCPU quotas", Why: "Allow servicequotas:ListServiceQuotas"}}}
}

// add adds the documents of a text to a world.
func add(w *world, text string) {
	for i, one := range strings.Split(strings.TrimPrefix(text, "---\n"), "---\n") {
		w.objects[fmt.Sprintf("%s %d", one[:min(len(one), 30)], i)] = one
	}
}
