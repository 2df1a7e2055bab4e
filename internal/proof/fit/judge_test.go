//go:build cluster

package fit

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// judge returns the answer of gitlatch for a fleet.
func judge(t *testing.T, f fleet) fit.Answer {
	t.Helper()
	s := &objects.Set{}
	for _, object := range f.Objects {
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var kind struct{ Kind string }
		if err := errors.Join(json.Unmarshal(data, &kind), add(s, kind.Kind, data)); err != nil {
			t.Fatal(err)
		}
	}
	return answerOf(s, f.InstanceTypes)
}

// add adds an object to the objects that gitlatch reads.
func add(s *objects.Set, kind string, object []byte) error {
	switch kind {
	case "ResourceQuota":
		var q corev1.ResourceQuota
		err := json.Unmarshal(object, &q)
		s.Quotas = append(s.Quotas, q)
		return err
	case "Deployment":
		return s.AddWorkload(workload.Deployment, workload.Replicas, object)
	case "StatefulSet":
		return s.AddWorkload(workload.StatefulSet, workload.Replicas, object)
	case "DaemonSet":
		return s.AddWorkload(workload.DaemonSet, "", object)
	}
	return s.Add(kind, object)
}

// answerOf returns the answer for a cluster at its live replicas, in an account with the
// instance types.
func answerOf(s *objects.Set, types []machine) fit.Answer {
	asks, unknown := s.Asks(nil)
	room := s.Room(nil)
	room.Unknown = append(room.Unknown, unknown...)
	for i := range room.Pools {
		room.Pools[i].Shapes = shapes(room.Pools[i], types)
	}
	return fit.Judge(asks, room)
}

// shapes returns instance types, the cheapest offer of a pool first.
func shapes(p fit.Pool, all []machine) (sorted []fit.Shape) {
	prices := map[string]float64{}
	for _, m := range all {
		prices[m.Name] = math.Inf(1)
		shape := fit.Shape{Name: m.Name, Labels: maps.Clone(m.Labels), Capacity: values(m.Capacity), Allocatable: values(m.Allocatable)}
		shape.Labels[fit.InstanceType] = m.Name
		offers := slices.SortedFunc(slices.Values(m.Offerings), func(a, b offering) int { return cmp.Compare(a.Price, b.Price) })
		for _, o := range offers {
			shape.Offers = append(shape.Offers, fit.Offer{Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price})
			if allows(p, fit.Zone, o.Zone) && allows(p, fit.CapacityType, o.CapacityType) {
				prices[m.Name] = min(prices[m.Name], o.Price)
			}
		}
		sorted = append(sorted, shape)
	}
	slices.SortStableFunc(sorted, func(a, b fit.Shape) int { return cmp.Compare(prices[a.Name], prices[b.Name]) })
	return sorted
}

// allows reports whether the requirements of a pool allow a value of a label.
func allows(p fit.Pool, key, value string) bool {
	return !slices.ContainsFunc(p.Require, func(m fit.Match) bool { return m.Key == key && !slices.Contains(m.Values, value) })
}

func values(list corev1.ResourceList) fit.Resources {
	all := fit.Resources{}
	for name, amount := range list {
		all[string(name)] = amount.Value()
	}
	all[fit.CPU] = list.Cpu().MilliValue()
	return all
}

// A score compares answers with oracles.
type score struct {
	fleets, tight, fits               int
	unknown, falseFits, falseRefusals int
	remedies, wrongRemedies           int
}

// compare counts a fleet, and prints it if gitlatch and the oracle disagree.
func (s *score) compare(t *testing.T, f fleet, got fit.Answer, want answer) {
	t.Helper()
	s.fleets++
	if f.tight {
		s.tight++
	}
	if want.always() {
		s.fits++
	}
	text := ""
	switch {
	case got.Verdict == fit.Unknown:
		s.unknown++
		text = "unknown"
	case got.Verdict == fit.Fits && !want.always():
		s.falseFits++
		text = "false fit"
	case got.Verdict == fit.DoesNotFit && want.always():
		s.falseRefusals++
		text = "false refusal"
	}
	if text != "" {
		answer, _ := json.Marshal(got)
		t.Logf("%s: %s\n  answer %s\n%s", f.Name, text, answer, describe(f, want))
	}
}

// remedy raises the limits of NodePools as the answers say. A remedy is wrong if pods of
// the first pending workload stay pending although they do not without the limit.
func (s *score) remedy(t *testing.T, all []fleet, answers []fit.Answer) {
	t.Helper()
	var raised, lifted []fleet
	for i, f := range all {
		l := answers[i].Limit
		need := resource.NewQuantity(l.Need, resource.DecimalSI)
		if l.Resource == fit.CPU {
			need = resource.NewMilliQuantity(l.Need, resource.DecimalSI)
		}
		raised = append(raised, f.with(l.Object, corev1.ResourceList{corev1.ResourceName(l.Resource): *need}))
		lifted = append(lifted, f.with(l.Object, nil))
	}
	without := karpenter(t, lifted)
	for i, with := range karpenter(t, raised) {
		first := answers[i].Pending[0].Workload
		s.remedies++
		if with.waits(first) > 0 && without[i].waits(first) == 0 {
			s.wrongRemedies++
			answer, _ := json.Marshal(answers[i])
			t.Logf("%s: wrong remedy\n  answer %s\n%s", all[i].Name, answer, describe(raised[i], with))
		}
	}
}

// waits returns the most pods of a workload that a run left pending.
func (a answer) waits(id workload.ID) (pods int) {
	for _, r := range a.Runs {
		for _, p := range r.Pending {
			if strings.EqualFold(p.Workload, string(id.Kind)+"/"+id.Short()) {
				pods = max(pods, p.Pods)
			}
		}
	}
	return pods
}

// with returns the fleet with other limits of a NodePool.
func (f fleet) with(object string, limits corev1.ResourceList) fleet {
	f.Objects = slices.Clone(f.Objects)
	for i, o := range f.Objects {
		if p, is := o.(*pool); is && object == "NodePool "+p.Metadata.Name {
			other := *p
			other.Spec.Limits = limits
			f.Objects[i] = &other
		}
	}
	return f
}

var (
	fleets = flag.Int("fleets", 0, "number of random fleets with Karpenter; a quarter as many are without; 0 compares 8 with Karpenter, in memory")
	seed   = flag.Uint64("seed", 0, "the seed of the first fleet; 0 draws it")
	only   = flag.String("only", "", "karpenter: only fleets with Karpenter, in memory; nodes: only fleets without it")
)

// Karpenter and kube-scheduler place every fleet that gitlatch calls placeable. In memory,
// the pods go to the nodes that Karpenter added for them. On the real control plane, the
// kube-scheduler chooses among all nodes, so it decides the fleets that gitlatch refuses and
// Karpenter places, and it places a quarter of the others.
func TestFit(t *testing.T) {
	fleets, first, only := *fleets, *seed, *only
	if fleets == 0 {
		fleets, first, only = 8, 1, "karpenter"
	}
	if first == 0 {
		first = 1 + rand.Uint64N(1e6)
	}
	var s score
	all := karpenterFleets(t, first, fleets)
	wants := karpenter(t, all)
	var c cluster
	if only != "karpenter" {
		c = startCluster(t)
	}
	var refused []fleet
	var answers []fit.Answer
	for i, want := range wants {
		if only == "nodes" {
			break
		}
		got := judge(t, all[i])
		live := 0
		switch {
		case only == "karpenter" || !want.always():
		case got.Verdict == fit.DoesNotFit:
			live = 3
		case i%4 == 0:
			live = 1
		}
		for ; live > 0 && want.always(); live-- {
			want.Runs = append(want.Runs, c.start(t, all[i]))
			c.stop(t)
		}
		s.compare(t, all[i], got, want)
		if got.Limit != nil && got.Limit.Name == fit.LimitPool {
			refused, answers = append(refused, all[i]), append(answers, got)
		}
	}
	s.remedy(t, refused, answers)
	for i := range (fleets + 3) / 4 {
		if only == "karpenter" {
			break
		}
		f := nodesFleet(first + uint64(i))
		s.compare(t, f, judge(t, f), c.place(t, f))
	}
	for _, figure := range []struct {
		name  string
		value int
	}{
		{"fit_fleets", s.fleets}, {"fit_tight", s.tight}, {"fit_placeable", s.fits}, {"fit_unknown", s.unknown},
		{"fit_false_fits", s.falseFits}, {"fit_false_refusals", s.falseRefusals},
		{"fit_remedies", s.remedies}, {"fit_wrong_remedies", s.wrongRemedies},
	} {
		fmt.Printf("figure %s %d\n", figure.name, figure.value)
	}
	fmt.Printf("seed %d\n", first)
	if s.falseFits > 0 || s.falseRefusals > 10 {
		t.Errorf("%d false fits, want 0, and %d false refusals, want at most 10", s.falseFits, s.falseRefusals)
	}
}
