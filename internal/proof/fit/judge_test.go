package fit

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// judge returns the answer of gitlatch for a fleet.
func judge(t *testing.T, f fleet) fit.Answer {
	t.Helper()
	var s objects.Set
	for _, object := range f.Objects {
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		switch o := object.(type) {
		case *corev1.ResourceQuota:
			s.Quotas = append(s.Quotas, *o)
		case *appsv1.Deployment:
			err = s.AddWorkload(workload.Deployment, workload.Replicas, data)
		case *appsv1.StatefulSet:
			err = s.AddWorkload(workload.StatefulSet, workload.Replicas, data)
		case *appsv1.DaemonSet:
			err = s.AddWorkload(workload.DaemonSet, "", data)
		default:
			var kind struct{ Kind string }
			err = cmp.Or(json.Unmarshal(data, &kind), s.Add(kind.Kind, data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	asks, unknown := s.Asks(nil)
	room := s.Room(nil)
	room.Unknown = append(room.Unknown, unknown...)
	for i := range room.Pools {
		room.Pools[i].Shapes = shapes(room.Pools[i], f.InstanceTypes)
	}
	return fit.Judge(asks, room)
}

// shapes returns instance types, the cheapest offer of a pool first.
func shapes(p fit.Pool, all []machine) (sorted []fit.Shape) {
	prices := map[string]float64{}
	for _, m := range all {
		prices[m.Name] = math.Inf(1)
		shape := fit.Shape{Name: m.Name, Labels: map[string]string{fit.InstanceType: m.Name}, Capacity: values(m.Capacity), Allocatable: values(m.Allocatable)}
		for key, value := range m.Labels {
			shape.Labels[key] = value
		}
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

var (
	fleets = flag.Int("fleets", 0, "number of random fleets with Karpenter; a quarter as many are without; 0 skips the comparison")
	seed   = flag.Uint64("seed", 0, "the seed of the first fleet; 0 draws it")
	only   = flag.String("only", "", "karpenter, nodes or live: fleets of this kind only")
)

// Karpenter and kube-scheduler place every fleet that gitlatch calls placeable.
func TestFit(t *testing.T) {
	if *fleets == 0 {
		t.Skip("make fit compares random fleets")
	}
	first := *seed
	if first == 0 {
		first = 1 + rand.Uint64N(1e6)
	}
	var s score
	all := karpenterFleets(t, first, *fleets)
	if *only == "" || *only == "karpenter" {
		for i, want := range karpenter(t, all) {
			s.compare(t, all[i], judge(t, all[i]), want)
		}
	}
	if *only != "karpenter" {
		c := startCluster(t)
		for i := range (*fleets + 3) / 4 {
			if *only != "live" {
				f := nodesFleet(first + uint64(i))
				s.compare(t, f, judge(t, f), c.place(t, f))
			}
			if *only != "nodes" && i%2 == 0 {
				f := all[i]
				f.Name += "-live"
				s.compare(t, f, judge(t, f), answer{Name: f.Name, Runs: []run{c.start(t, f)}})
				c.stop(t)
			}
		}
	}
	for _, figure := range []struct {
		name  string
		value int
	}{
		{"fit_fleets", s.fleets}, {"fit_tight", s.tight}, {"fit_placeable", s.fits}, {"fit_unknown", s.unknown},
		{"fit_false_fits", s.falseFits}, {"fit_false_refusals", s.falseRefusals},
	} {
		fmt.Printf("figure %s %d\n", figure.name, figure.value)
	}
	fmt.Println(strings.TrimSpace(fmt.Sprintf("seed %d", first)))
	if s.falseFits > 0 || s.falseRefusals > 10 {
		t.Errorf("%d false fits, want 0, and %d false refusals, want at most 10", s.falseFits, s.falseRefusals)
	}
}
