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

// pool returns a NodePool with a limit of CPU and one instance type.
func pool(cpu int) string {
	return fmt.Sprintf("---\nkind: NodePool\nmetadata: {name: default}\nspec: {limits: {cpu: %d}, template: {spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m6i.large]}]}}}\n", cpu)
}

// node returns a Node of the NodePool.
func node(cpu int, provider string) string {
	return fmt.Sprintf("---\nkind: Node\nmetadata: {name: n1, labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: m6i.large}}\n"+
		"spec: {providerID: %q}\nstatus: {capacity: {cpu: %[2]d}, allocatable: {cpu: %[2]d, pods: 500}}\n", provider, cpu)
}

// pods returns a workload whose pods request an amount of CPU.
func pods(kind, name string, replicas int, cpu string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: %s\nmetadata: {name: %s, namespace: shop}\nspec: {replicas: %d, template: {spec: {containers: [{name: main, resources: {requests: {cpu: %s}}}]}}}\n", kind, name, replicas, cpu)
}

// web has a level of 200, and its pods request 500m of CPU. A node has 2 CPUs, so that they
// ask for 100 CPUs, which is also the estimate.
func TestAnAnswer(t *testing.T) {
	t.Parallel()
	app := pods("Deployment", "web", 180, "500m")
	on := app + node(2, "")
	for name, c := range map[string]struct {
		cluster string
		fail    string // a kind that cannot be listed
		standby string
		account doctor.Account
		want    string
	}{
		"enough":                     {cluster: pool(200) + on, want: "likely fits, 200 pods, NodePool default cpu 50 %"},
		"close":                      {cluster: pool(125) + on, want: "close, 200 pods, NodePool default cpu 80 %"},
		"too little":                 {cluster: pool(99) + on, want: "does not fit, 200 pods, NodePool default cpu 101 %"},
		"another live workload":      {cluster: pool(101) + on + pods("StatefulSet", "db", 2, "1"), want: "does not fit, 202 pods, NodePool default cpu 100.9 %"},
		"a DaemonSet":                {cluster: pool(180) + on + pods("DaemonSet", "agent", 0, "1"), want: "close, 200 pods, NodePool default cpu 55.5 %"},
		"no present node":            {cluster: pool(200) + app, want: "unknown, 200 pods, NodePool default cpu 50 %"},
		"too little without a node":  {cluster: pool(99) + app, want: "does not fit, 200 pods, NodePool default cpu 101 %"},
		"another node":               {cluster: on, want: "unknown, 200 pods, largest node for shop/web pods 100 %"},
		"too little with another":    {cluster: pool(99) + on + strings.Replace(node(2, ""), "default", "gone", 1), want: "unknown, 200 pods, NodePool default cpu 101 %"},
		"no nodes":                   {cluster: app, want: "unknown, 200 pods, largest node for shop/web pods 100 %"},
		"nodes are forbidden":        {cluster: pool(200) + on, fail: "Node", want: "unknown, 200 pods, NodePool default cpu 50 %"},
		"quotas are forbidden":       {cluster: pool(200) + on, fail: "ResourceQuota", want: "unknown, 200 pods, resourcequotas: cannot list resourcequotas: timeout. Apply infra/rbac/doctor"},
		"a LimitRange":               {cluster: pool(200) + on, fail: "LimitRange", want: "unknown, 200 pods, NodePool default cpu 50 %"},
		"workloads are forbidden":    {cluster: pool(200) + on, fail: "StatefulSet", want: "unknown, 200 pods, NodePool default cpu 50 %"},
		"no template":                {cluster: pool(200) + on + "---\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec: {replicas: 1}\n", want: "unknown, 201 pods, NodePool default cpu 50 %"},
		"no live workload":           {cluster: pool(200) + node(2, ""), want: "unknown, 200 pods, NodePool default cpu 0 %"},
		"an account that is not":     {cluster: pool(200) + app + node(2, "aws:///a/i-1"), want: "unknown, 200 pods, node groups, vCPU quotas and free addresses: gitlatch did not read the AWS account. Use --aws"},
		"too little without account": {cluster: pool(99) + app + node(2, "aws:///a/i-1"), want: "unknown, 200 pods, NodePool default cpu 101 %"},
		"an account":                 {cluster: pool(200) + app + node(2, "aws:///a/i-1"), account: empty, want: "likely fits, 200 pods, NodePool default cpu 50 %"},
		"an account in part":         {cluster: pool(200) + app + node(2, "aws:///a/i-1"), account: denied, want: "unknown, 200 pods, vCPU quotas: Allow servicequotas:ListServiceQuotas"},
		"too little with an unknown": {cluster: pool(99) + app + node(2, "aws:///a/i-1"), account: denied, want: "does not fit, 200 pods, NodePool default cpu 101 %"},
		"a standby cluster":          {cluster: pool(1) + on + pods("StatefulSet", "db", 2, "1"), standby: pool(101) + node(2, ""), want: "does not fit, 202 pods, NodePool default cpu 100.9 %"},
		"a standby that has more":    {cluster: pool(1) + on, standby: pool(100) + node(2, "") + pods("StatefulSet", "db", 2, "1"), want: "does not fit, 202 pods, NodePool default cpu 102 %"},
		"a failed list here":         {cluster: pool(1) + on, fail: "LimitRange", standby: pool(200) + node(2, ""), want: "unknown, 200 pods, NodePool default cpu 50 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.objects = map[string]string{}
			add(w, "kind: ResourceQuota\nmetadata: {name: pods, namespace: shop}\nspec: {hard: {pods: \"500\"}}\nstatus: {used: {pods: \"180\"}}\n---\n"+strings.TrimPrefix(c.cluster, "---\n"))
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
				if l.Resource == "cpu" && l.Answer == r.Fit.Answer {
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

func empty(context.Context, []string) limits.Account { return limits.Account{Read: true} }

// denied is an account whose quotas cannot be read.
func denied(context.Context, []string) limits.Account {
	return limits.Account{Read: true, Missing: []room.Limit{{Name: "vCPU quotas", Why: "Allow servicequotas:ListServiceQuotas"}}}
}

// add adds the documents of a text to a world.
func add(w *world, text string) {
	for i, one := range strings.Split(strings.TrimPrefix(text, "---\n"), "---\n") {
		w.objects[fmt.Sprintf("%s %d", one[:min(len(one), 30)], i)] = one
	}
}
