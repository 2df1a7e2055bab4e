// Package latchtest is the test suite that every [latch.Store] passes. It checks the
// contract in the comments of the interface.
package latchtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// noon is the instant at which every test starts.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const minute = time.Minute

// Run runs the suite. open returns a new store without state for each test, and closes it
// when the test ends.
func Run(t *testing.T, open func(t *testing.T) latch.Store) {
	tests := map[string]func(t *testing.T, s store){
		"a lease is held until it expires":                testLeaseExpires,
		"a lease is extended by its owner":                testLeaseExtended,
		"fences only grow":                                testFencesGrow,
		"a release after a takeover is left alone":        testLateRelease,
		"of racing acquirers one wins":                    testRace,
		"an unknown site has no state":                    testUnknownSite,
		"a save keeps every field":                        testEveryField,
		"a save of zero values reads back as zero":        testZeroValues,
		"nil and empty stay apart":                        testNilAndEmpty,
		"latches load by their workload":                  testByWorkload,
		"a save returns the stored values":                testSaved,
		"a latch that moved stops a save":                 testRevision,
		"a dropped latch is gone":                         testDrop,
		"a paused holder changes nothing":                 testPausedHolder,
		"a holder that released changes nothing":          testReleasedHolder,
		"a late holder saves while nobody took over":      testLateHolder,
		"sites are apart":                                 testSitesApart,
		"loaded and saved values are not shared":          testNotShared,
		"a large head comes back":                         testLargeHead,
		"a cancelled context does nothing":                testCancelled,
		"a state that could not be read back is not kept": testUnreadable,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, store{open(t)})
		})
	}
}

// store fails a test if a call that must succeed fails.
type store struct{ latch.Store }

func (s store) acquire(t *testing.T, site, owner string, now, until time.Time) latch.Lease {
	t.Helper()
	lease, err := s.Acquire(t.Context(), site, owner, now, until)
	if err != nil {
		t.Fatalf("acquire for %s: %v", owner, err)
	}
	return lease
}

// save saves latches, and returns the stored ones in the order of put.
func (s store) save(t *testing.T, lease latch.Lease, head latch.Head, put []latch.Latch, drop ...workload.ID) []latch.Latch {
	t.Helper()
	if err := s.Save(t.Context(), lease, head, put, drop); err != nil {
		t.Fatalf("save: %v", err)
	}
	return Stored(t, s, lease.Site, put)
}

// Stored returns the stored form of some latches.
func Stored(t *testing.T, s latch.Store, site string, latches []latch.Latch) (stored []latch.Latch) {
	t.Helper()
	all, err := s.Latches(t.Context(), site)
	if err != nil {
		t.Fatalf("load the latches of %s: %v", site, err)
	}
	for _, l := range latches {
		stored = append(stored, all[l.ID])
	}
	return stored
}

// load returns the latches in the order of workload.Compare.
func (s store) load(t *testing.T, site string) (latch.Head, []latch.Latch) {
	t.Helper()
	head, latches, err := latch.Load(t.Context(), s, site)
	if err != nil {
		t.Fatalf("load %s: %v", site, err)
	}
	var all []latch.Latch
	for _, id := range slices.SortedFunc(maps.Keys(latches), workload.Compare) {
		if all = append(all, latches[id]); latches[id].ID != id {
			t.Errorf("as %s came %+v", id, latches[id])
		}
	}
	return head, all
}

// state returns the content of a site, for comparison.
func (s store) state(t *testing.T, site string) [2]any {
	t.Helper()
	head, latches := s.load(t, site)
	return [2]any{head, latches}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is\n%+v\nwant\n%+v", what, got, want)
	}
}

func deployment(namespace, name string) workload.ID {
	return workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}
}

func latchOf(name string, replicas int32) latch.Latch {
	return latch.Latch{ID: deployment("shop", name), Declared: checkpoint.Entry{Replicas: replicas}}
}

func testLeaseExpires(t *testing.T, s store) {
	until := noon.Add(5 * minute)
	lease := s.acquire(t, "prod", "a", noon, until.In(zone))
	if lease.Site != "prod" || lease.Owner != "a" || !lease.Until.Equal(until) || lease.Fence < 1 {
		t.Errorf("lease is %+v", lease)
	}
	for _, now := range []time.Time{noon, until.Add(-1)} {
		_, err := s.Acquire(t.Context(), "prod", "b", now, now.Add(minute))
		var held *latch.HeldError
		if !errors.As(err, &held) {
			t.Fatalf("at %s: error is %v, want HeldError", now, err)
		}
		if held.Site != "prod" || held.Owner != "a" || !held.Until.Equal(until) {
			t.Errorf("held is %+v", held)
		}
	}
	if taken := s.acquire(t, "prod", "b", until, until.Add(minute)); taken.Owner != "b" || taken.Fence <= lease.Fence {
		t.Errorf("taken over as %+v, was %+v", taken, lease)
	}
	_, err := s.Acquire(t.Context(), "prod", "a", until, until.Add(minute))
	if !errors.As(err, new(*latch.HeldError)) {
		t.Errorf("the owner before takes it back: %v", err)
	}
}

func testLeaseExtended(t *testing.T, s store) {
	first := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	longer := s.acquire(t, "prod", "a", noon, noon.Add(5*minute))
	if longer.Fence != first.Fence || !longer.Until.Equal(noon.Add(5*minute)) {
		t.Errorf("extended to %+v, was %+v", longer, first)
	}
	if _, err := s.Acquire(t.Context(), "prod", "b", noon.Add(2*minute), noon.Add(9*minute)); !errors.As(err, new(*latch.HeldError)) {
		t.Errorf("another gets the extended lease: %v", err)
	}
	late := s.acquire(t, "prod", "a", noon.Add(10*minute), noon.Add(11*minute))
	if late.Fence != first.Fence {
		t.Errorf("extended after its end, with nobody between, to %+v, was %+v", late, first)
	}
	// The lease is valid in its first form and in its extended form.
	s.save(t, first, latch.Head{At: noon}, nil)
	s.save(t, late, latch.Head{At: noon}, nil)
	if _, err := s.Acquire(t.Context(), "prod", "", noon, noon.Add(minute)); err == nil {
		t.Error("a lease without an owner was given")
	}
}

func testFencesGrow(t *testing.T, s store) {
	var last int64
	for i := range 6 {
		now := noon.Add(time.Duration(i) * minute)
		lease := s.acquire(t, "prod", fmt.Sprint("owner-", i/2), now, now.Add(minute))
		if i%2 == 1 {
			if err := s.Release(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
		} else if lease.Fence <= last {
			t.Errorf("fence %d after %d", lease.Fence, last)
		}
		last = lease.Fence
	}
	one := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	if err := s.Release(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if two := s.acquire(t, "prod", "a", noon, noon.Add(minute)); two.Fence <= one.Fence {
		t.Errorf("released and taken again by the same owner: fence %d after %d", two.Fence, one.Fence)
	}
}

func testLateRelease(t *testing.T, s store) {
	old := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	now := noon.Add(2 * minute)
	s.acquire(t, "prod", "b", now, now.Add(minute))
	for range 2 {
		if err := s.Release(t.Context(), old); err != nil {
			t.Errorf("release: %v", err)
		}
	}
	if _, err := s.Acquire(t.Context(), "prod", "c", now, now.Add(minute)); !errors.As(err, new(*latch.HeldError)) {
		t.Errorf("the lease of b was given back by a: %v", err)
	}
	if err := s.Release(t.Context(), latch.Lease{Site: "never", Owner: "a", Fence: 1}); err != nil {
		t.Errorf("release of a lease that never was: %v", err)
	}
}

func testRace(t *testing.T, s store) {
	const racers, rounds = 16, 3
	var last int64
	for round := range rounds {
		now := noon.Add(time.Duration(round) * minute)
		var won [racers]*latch.Lease
		var lost [racers]error
		var all sync.WaitGroup
		for i := range racers {
			all.Go(func() {
				lease, err := s.Acquire(t.Context(), "prod", fmt.Sprintf("racer-%d-%d", round, i), now, now.Add(minute))
				if err == nil {
					won[i] = &lease
				}
				lost[i] = err
			})
		}
		all.Wait()
		winners := 0
		for i := range racers {
			switch {
			case won[i] != nil:
				winners++
				if won[i].Fence <= last {
					t.Errorf("fence %d after %d", won[i].Fence, last)
				}
				last = won[i].Fence
			case !errors.As(lost[i], new(*latch.HeldError)):
				t.Errorf("racer %d: %v", i, lost[i])
			}
		}
		if winners != 1 {
			t.Fatalf("round %d has %d winners", round, winners)
		}
	}
}

func testUnknownSite(t *testing.T, s store) {
	check := func() {
		t.Helper()
		head, latches := s.load(t, "prod")
		equal(t, "head", head, latch.Head{})
		if len(latches) > 0 {
			t.Errorf("latches are %v", latches)
		}
	}
	check()
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	check()
	_ = s.Release(t.Context(), lease)
	check()
}

func testCancelled(t *testing.T, s store) {
	lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Acquire(ctx, "other", "b", noon, noon.Add(minute))
	saveErr := s.Save(ctx, lease, Full[latch.Head](), nil, nil)
	_, headErr := s.Head(ctx, "prod")
	_, latchesErr := s.Latches(ctx, "prod")
	for _, err := range []error{err, saveErr, headErr, latchesErr, s.Release(ctx, lease)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
	head, _ := s.load(t, "prod")
	equal(t, "head", head, latch.Head{})
	s.save(t, lease, latch.Head{}, nil)
}
