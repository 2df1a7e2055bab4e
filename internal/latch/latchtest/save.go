package latchtest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// fullLatch returns a latch with every field set that may be set at its first save.
func fullLatch() latch.Latch {
	l := Full[latch.Latch]()
	l.Rev = 0
	return l
}

func testEveryField(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	head, l := Full[latch.Head](), fullLatch()
	s.save(t, lease, head, []latch.Latch{l})
	gotHead, got := s.load(t, "prod")
	equal(t, "head", gotHead, inUTC(head))
	l.Rev = 1
	equal(t, "latches", got, []latch.Latch{inUTC(l)})
}

func testZeroValues(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	l := latch.Latch{ID: deployment("shop", "web")}
	s.save(t, lease, Full[latch.Head](), []latch.Latch{{ID: l.ID, OptedOut: true}})
	l.Rev = 1
	s.save(t, lease, latch.Head{}, []latch.Latch{l})
	head, got := s.load(t, "prod")
	l.Rev = 2
	equal(t, "head", head, latch.Head{})
	equal(t, "latches", got, []latch.Latch{l})
}

func testNilAndEmpty(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	for name, head := range map[string]latch.Head{
		"empty": {
			Agreed:   latch.Agreed{PolicySource: []byte{}},
			Proposal: &latch.Proposal{Repairs: []latch.Repair{}},
			Drop:     &latch.Drop{},
		},
		"pointers to nothing": {
			Proposal: &latch.Proposal{},
		},
		"nil": {},
	} {
		s.save(t, lease, head, nil)
		got, _ := s.load(t, "prod")
		equal(t, name, got, head)
	}
	empty, none := latchOf("empty", 5), latchOf("none", 5)
	empty.Up.Levels = []int32{}
	saved := s.save(t, lease, latch.Head{}, []latch.Latch{empty, none})
	empty.Rev, none.Rev = 1, 1
	equal(t, "saved", saved, []latch.Latch{empty, none})
	_, latches := s.load(t, "prod")
	equal(t, "latches", latches, saved)
}

func testByWorkload(t *testing.T, s store) {
	// The name of one workload is a prefix of another's.
	want := []workload.ID{
		deployment("a", "web"),
		deployment("shop", "web"),
		deployment("shop", "web-2"),
		deployment("shop", "web.v2"),
		{Namespace: "shop", Kind: workload.StatefulSet, Name: "db"},
		deployment("shop-b", "api"),
	}
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	for _, i := range []int{3, 0, 5, 2, 4, 1} {
		s.save(t, lease, latch.Head{}, []latch.Latch{{ID: want[i]}})
	}
	_, latches := s.load(t, "prod")
	var got []workload.ID
	for _, l := range latches {
		got = append(got, l.ID)
	}
	equal(t, "workloads", got, want)
}

func testSaved(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	z, full := latchOf("z", 5), fullLatch()
	saved := s.save(t, lease, latch.Head{}, []latch.Latch{z, full})
	z.Rev, full.Rev = 1, 1
	equal(t, "first save", saved, []latch.Latch{z, inUTC(full)})

	saved[1].Declared.Replicas++
	again := s.save(t, lease, latch.Head{}, saved[1:])
	want := saved[1]
	want.Rev = 2
	equal(t, "second save", again, []latch.Latch{want})
	_, latches := s.load(t, "prod")
	equal(t, "latches", latches, []latch.Latch{want, z})
	if none := s.save(t, lease, latch.Head{}, nil); len(none) > 0 {
		t.Errorf("a save of no latch returns %v", none)
	}
}

func testRevision(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	saved := s.save(t, lease, latch.Head{At: noon}, []latch.Latch{latchOf("web", 5)})
	newer := s.save(t, lease, latch.Head{At: noon}, saved)

	gone := latchOf("gone", 5)
	gone.Rev = 3
	for name, put := range map[string][]latch.Latch{
		"older":       saved,
		"never read":  {latchOf("web", 9)},
		"from beyond": {{ID: newer[0].ID, Rev: 99}},
		"dropped":     {gone},
		"twice":       {newer[0], newer[0]},
	} {
		_, before := s.load(t, "prod")
		if err := s.Save(t.Context(), lease, Full[latch.Head](), put, nil); !errors.Is(err, latch.ErrLost) {
			t.Errorf("%s: error is %v, want ErrLost", name, err)
		}
		head, latches := s.load(t, "prod")
		if !head.At.Equal(noon) {
			t.Fatalf("%s: head was written: %+v", name, head)
		}
		if name != "twice" { // its first part may have been written
			equal(t, name+": latches", latches, before)
		}
	}
}

func testDrop(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	saved := s.save(t, lease, latch.Head{}, []latch.Latch{latchOf("a", 1), latchOf("b", 2)})
	s.save(t, lease, latch.Head{At: noon}, []latch.Latch{latchOf("c", 5)}, saved[0].ID, deployment("shop", "never"))
	c := latchOf("c", 5)
	c.Rev = 1
	head, latches := s.load(t, "prod")
	equal(t, "latches", latches, []latch.Latch{saved[1], c})
	if !head.At.Equal(noon) {
		t.Errorf("head is %+v", head)
	}
	if err := s.Save(t.Context(), lease, latch.Head{}, saved[:1], nil); !errors.Is(err, latch.ErrLost) {
		t.Errorf("a dropped latch is saved as if it were there: %v", err)
	}
	s.save(t, lease, latch.Head{}, []latch.Latch{latchOf("a", 9)})
}

func testPausedHolder(t *testing.T, s store) {
	paused := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	mine := s.save(t, paused, latch.Head{At: noon}, []latch.Latch{latchOf("web", 5)})
	now := noon.Add(2 * minute)
	other := s.acquire(t, "prod", "b", now, now.Add(minute))
	before := s.state(t, "prod")
	for name, late := range map[string]struct {
		put  []latch.Latch
		drop []workload.ID
	}{
		"head":  {},
		"latch": {put: mine},
		"new":   {put: []latch.Latch{latchOf("new", 1)}},
		"drop":  {drop: []workload.ID{mine[0].ID}},
	} {
		if err := s.Save(t.Context(), paused, Full[latch.Head](), late.put, late.drop); !errors.Is(err, latch.ErrLost) {
			t.Errorf("%s: error is %v, want ErrLost", name, err)
		}
		equal(t, "state", s.state(t, "prod"), before)
	}
	// The save fails also after the other tick has released the lease, and if only the
	// owner's name or only the fence is right.
	forged := paused
	forged.Fence = other.Fence
	if err := s.Save(t.Context(), forged, latch.Head{}, nil, nil); !errors.Is(err, latch.ErrLost) {
		t.Errorf("fence alone: %v", err)
	}
	forged = other
	forged.Fence = paused.Fence
	if err := s.Save(t.Context(), forged, latch.Head{}, nil, nil); !errors.Is(err, latch.ErrLost) {
		t.Errorf("owner alone: %v", err)
	}
	if err := s.Release(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), paused, latch.Head{}, mine, nil); !errors.Is(err, latch.ErrLost) {
		t.Errorf("after the other's release: %v", err)
	}
	equal(t, "state", s.state(t, "prod"), before)
}

func testReleasedHolder(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	if err := s.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	for name, lease := range map[string]latch.Lease{
		"released":    lease,
		"of nobody":   {Site: "prod", Fence: lease.Fence},
		"never given": {Site: "other", Owner: "a", Fence: 1},
		"zero":        {Site: "other"},
	} {
		if err := s.Save(t.Context(), lease, Full[latch.Head](), nil, nil); !errors.Is(err, latch.ErrLost) {
			t.Errorf("%s: error is %v, want ErrLost", name, err)
		}
	}
	head, _ := s.load(t, "prod")
	equal(t, "head", head, latch.Head{})
}

func testLateHolder(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(-minute))
	s.save(t, lease, latch.Head{At: noon}, []latch.Latch{latchOf("web", 5)})
}

func testSitesApart(t *testing.T, s store) {
	// The name of one site is a prefix of the other's.
	one := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	two := s.acquire(t, "prod2", "b", noon, noon.Add(minute))
	inOne := s.save(t, one, latch.Head{Agreed: latch.Agreed{Tip: "1"}}, []latch.Latch{latchOf("web", 1)})
	inTwo := s.save(t, two, latch.Head{Agreed: latch.Agreed{Tip: "2"}}, []latch.Latch{latchOf("web", 2)})
	for site, want := range map[string][]latch.Latch{"prod": inOne, "prod2": inTwo} {
		_, latches := s.load(t, site)
		equal(t, site, latches, want)
	}
	s.save(t, one, latch.Head{}, nil, inOne[0].ID)
	head, latches := s.load(t, "prod2")
	equal(t, "prod2", latches, inTwo)
	equal(t, "prod2", head, latch.Head{Agreed: latch.Agreed{Tip: "2"}})
	if err := s.Release(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	s.save(t, two, latch.Head{}, nil)
}

func testNotShared(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	head := Full[latch.Head]()
	s.save(t, lease, head, nil)
	spoil := func(h latch.Head) {
		h.Proposal.Repairs[0].Namespace = "other"
		h.Agreed.PolicySource[0]++
		h.Agreed.Sites[0] = 'o'
	}
	spoil(head)
	first, _ := s.load(t, "prod")
	equal(t, "head", first, inUTC(Full[latch.Head]()))
	spoil(first)
	second, _ := s.load(t, "prod")
	equal(t, "head", second, inUTC(Full[latch.Head]()))
}

func testLargeHead(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	var head latch.Head
	for i := range int32(5000) {
		head.Declined = append(head.Declined, latch.Declined{Repair: latch.Repair{Namespace: fmt.Sprintf("a-namespace-with-quite-a-long-name-%d", i)}})
	}
	s.save(t, lease, head, nil)
	got, _ := s.load(t, "prod")
	equal(t, "head", got, head)
}

func testUnreadable(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	s.save(t, lease, latch.Head{At: noon}, nil)
	before := s.state(t, "prod")
	for name, save := range map[string]func() error{
		"latch without a name": func() error {
			return s.Save(t.Context(), lease, latch.Head{}, []latch.Latch{{}}, nil)
		},
		"fall without a name": func() error {
			return s.Save(t.Context(), lease, latch.Head{Drop: &latch.Drop{Worst: []latch.Fall{{}}}}, nil, nil)
		},
		"no number": func() error {
			return s.Save(t.Context(), lease, latch.Head{Budget: latch.Budget{Tokens: math.NaN()}}, nil, nil)
		},
	} {
		if err := save(); err == nil || errors.Is(err, latch.ErrLost) {
			t.Errorf("%s: error is %v", name, err)
		}
		equal(t, name+": state", s.state(t, "prod"), before)
	}
}
