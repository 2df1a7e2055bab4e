package main

import (
	"maps"
	"testing"
)

// add adds every part, and leaves its argument unchanged.
func TestAskedAdds(t *testing.T) {
	t.Parallel()
	one := Asked{Calls: map[string]map[string]int{"sns": {"Publish": 2}}, ReadUnits: 1, WriteUnits: 2.5, LogBytes: 3, Latches: 4}
	var sum Asked
	sum.add(one)
	sum.add(one)
	want := Asked{Calls: map[string]map[string]int{"sns": {"Publish": 4}}, ReadUnits: 2, WriteUnits: 5, LogBytes: 6, Latches: 8}
	if !maps.Equal(sum.Calls["sns"], want.Calls["sns"]) || sum.ReadUnits != want.ReadUnits || sum.WriteUnits != want.WriteUnits || sum.LogBytes != want.LogBytes || sum.Latches != want.Latches || one.Of("sns", "Publish") != 2 {
		t.Errorf("%+v and %+v", sum, one)
	}
}
