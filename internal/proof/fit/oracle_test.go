//go:build cluster

package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// An answer is the answer of an oracle, one run for each order of the pods.
type answer struct {
	Name  string `json:"name"`
	Error string `json:"error"`
	Runs  []run  `json:"runs"`
}

type run struct {
	Nodes []struct {
		Pool string `json:"pool"`
		Type string `json:"type"`
	} `json:"nodes"`
	Objects []*corev1.Node `json:"objects"` // Nodes as objects
	Placed  int            `json:"placed"`
	Pending []pending      `json:"pending"`
}

type pending struct {
	Workload string `json:"workload"` // Deployment/shop/app-0
	Pods     int    `json:"pods"`
	Why      string `json:"why"`
}

// always reports whether no run left a pod pending.
func (a answer) always() bool {
	return !slices.ContainsFunc(a.Runs, func(r run) bool { return r.Pending != nil })
}

// karpenter places fleets with Karpenter's scheduler.
func karpenter(t *testing.T, fleets []fleet) []answer {
	t.Helper()
	dir := program.Folder(t, "Karpenter's scheduler", filepath.Join("scripts", "karpenter", "build.sh"))
	var in, out, problems bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, f := range fleets {
		if err := lines.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "karpenter"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("place fleets with Karpenter: %v\n%s", err, problems.Bytes())
	}
	var all []answer
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			t.Fatal(err)
		}
		if a.Error != "" {
			t.Fatalf("place %s with Karpenter: %s", a.Name, a.Error)
		}
		all = append(all, a)
	}
	if len(all) != len(fleets) {
		t.Fatalf("Karpenter answered %d of %d fleets", len(all), len(fleets))
	}
	return all
}

// karpenterFleets draws fleets with limits. Karpenter places each fleet without limits
// first. A limit is within one node of the nodes that this takes, or far from it.
func karpenterFleets(t *testing.T, first uint64, count int) []fleet {
	t.Helper()
	var all []fleet
	for i := range count {
		f := karpenterFleet(first + uint64(i))
		f.Orders = 1
		all = append(all, f)
	}
	for i, unlimited := range karpenter(t, all) {
		r := rand.New(rand.NewPCG(first+uint64(i), 31))
		all[i].Orders = 3
		if r.IntN(5) > 0 {
			all[i].drop(unlimited.Runs[0].Pending)
		}
		all[i].limit(r, unlimited.Runs[0])
	}
	return all
}

// drop removes workloads.
func (f *fleet) drop(unplaceable []pending) {
	f.Objects = slices.DeleteFunc(f.Objects, func(object any) bool {
		id, _, _ := workloadOf(object)
		return slices.ContainsFunc(unplaceable, func(p pending) bool { return p.Workload == id })
	})
}

// limit gives pools a limit on CPU, memory or nodes.
func (f *fleet) limit(r *rand.Rand, unlimited run) {
	used := map[string]corev1.ResourceList{}
	largest := map[string]corev1.ResourceList{}
	for _, n := range unlimited.Nodes {
		i := slices.IndexFunc(f.InstanceTypes, func(m machine) bool { return m.Name == n.Type })
		for resource, amount := range f.InstanceTypes[i].Capacity {
			if used[n.Pool] == nil {
				used[n.Pool], largest[n.Pool] = corev1.ResourceList{}, corev1.ResourceList{}
			}
			sum := used[n.Pool][resource]
			sum.Add(amount)
			used[n.Pool][resource] = sum
			if most := largest[n.Pool][resource]; amount.Cmp(most) > 0 {
				largest[n.Pool][resource] = amount
			}
		}
	}
	for _, object := range f.Objects {
		p, is := object.(*pool)
		if !is || used[p.Metadata.Name] == nil || r.IntN(5) == 0 {
			continue
		}
		name := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceCPU, corev1.ResourceCPU, corev1.ResourceMemory}[r.IntN(4)]
		ask, node := used[p.Metadata.Name][name], largest[p.Metadata.Name][name]
		limit := ask.Value()
		switch step := node.Value(); r.IntN(8) {
		case 0:
			limit = limit * int64(3+r.IntN(20)) / 10
		case 1:
		case 2:
			limit--
		case 3:
			limit -= step
		case 4:
			limit += step
		default:
			limit += r.Int64N(2*step+1) - step
		}
		if limit <= 0 {
			continue
		}
		f.tight = f.tight || max(limit-ask.Value(), ask.Value()-limit) <= node.Value()
		p.Spec.Limits = corev1.ResourceList{name: *resource.NewQuantity(limit, ask.Format)}
	}
}

// describe returns a fleet and an answer in a few lines.
func describe(f fleet, a answer) string {
	var b bytes.Buffer
	for _, object := range f.Objects {
		line, _ := json.Marshal(object)
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, m := range f.InstanceTypes {
		line, _ := json.Marshal(m)
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, r := range a.Runs {
		fmt.Fprintf(&b, "  placed %d on %v, pending %v\n", r.Placed, r.Nodes, r.Pending)
	}
	return b.String()
}
