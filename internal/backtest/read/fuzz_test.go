package read_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/backtest/read"
)

// fuzz reads any text as a source. The samples belong to workloads, are in the order of
// time, and have no negative replicas. A second read gives the same samples.
func fuzz(f *testing.F, begin string, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = begin + text
		past, again := &backtest.Past{}, &backtest.Past{}
		err := read.Source("fuzz", strings.NewReader(text), past)
		if err2 := read.Source("fuzz", strings.NewReader(text), again); (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("first %v, then %v", err, err2)
		}
		if err != nil {
			return
		}
		for _, id := range past.IDs() {
			samples := slices.Collect(past.Of(id))
			if err := id.Validate(); err != nil || !id.Kind.Scales() {
				t.Errorf("took %q: %v", id, err)
			}
			for i, s := range samples {
				if i > 0 && !samples[i-1].At.Before(s.At) || s.Pods < 0 {
					t.Errorf("%s: sample %d is %+v", id, i, s)
				}
			}
			if other := slices.Collect(again.Of(id)); !slices.Equal(other, samples) {
				t.Errorf("%s: %v, and then %v", id, samples, other)
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzz(f, "time,workload,replicas", "\n2026-09-14T00:00:00Z,shop/web,40\n", ",ready,min,max,target\r\n1789344000.9,search/statefulset/index,2.1,30,2,300,0.75\r\n",
		"\n1789344000,shop/web,NaN\n1789344060,\"shop/web\",\n", "\n-1,a/b/c/d,1e99\n")
}

func FuzzPrometheus(f *testing.F) {
	fuzz(f, `{"data":{"resultType":"matrix","result":`, `[{"metric":{"namespace":"shop","deployment":"web"},"values":[[1789344000,"40"],[1789344060.781,"41"],[1789344090,"NaN"]]}]}}`,
		`[]}}`, `[{"values":[[1,"1"]]}]}}`, `[{"metric":{"namespace":"a","statefulset":"b"},"values":[[1e300,"-1"]]}],"x":[[[]]]}}`)
}
