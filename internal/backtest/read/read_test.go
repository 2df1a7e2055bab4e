package read_test

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/backtest/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	monday = time.Date(2026, 9, 14, 0, 0, 0, 0, time.UTC)
	web    = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	index  = workload.ID{Namespace: "search", Kind: workload.StatefulSet, Name: "index"}
)

func sample(minute int, pods int32) backtest.Sample {
	return backtest.Sample{At: monday.Add(time.Duration(minute) * time.Minute), Pods: pods}
}

func TestForms(t *testing.T) {
	t.Parallel()
	three := map[workload.ID][]backtest.Sample{
		web:   {sample(0, 40), sample(1, 41), sample(2, 0)},
		index: {sample(0, 3)},
	}
	for name, c := range map[string]struct {
		text string
		want map[workload.ID][]backtest.Sample
	}{
		"csv": {"time,workload,replicas\n2026-09-14T00:00:00Z,shop/web,40\n2026-09-14T00:00:00Z,search/statefulset/index,3\n" +
			"2026-09-14T02:01:00+02:00,shop/deployment/web,41\n2026-09-14T00:02:00Z,shop/web,0\n", three},
		"csv in another order, with a mark, Windows' line ends and averages": {"\ufeffReplicas, workload ,TIME\r\n40,shop/web,1789344000\r\n2.1,search/statefulset/index,1789344000.9\r\n40.2,shop/web,1789344060\r\n0,shop/web,1789344120\r\n", three},
		"csv with more columns": {"time,workload,replicas,ready\n2026-09-14T00:00:00Z,shop/web,40,x\n", map[workload.ID][]backtest.Sample{web: {sample(0, 40)}}},
		"csv with what is not known": {"time,workload,replicas\n2026-09-14T00:00:00Z,shop/web,\n2026-09-14T00:01:00Z,shop/web,NaN\n2026-09-14T00:02:00Z,shop/web,7\n",
			map[workload.ID][]backtest.Sample{web: {sample(2, 7)}}},
		"prometheus": {` {"status":"success","data":{"resultType":"matrix","result":[
			{"metric":{"__name__":"kube_deployment_spec_replicas","namespace":"shop","deployment":"web"},"values":[[1789344000,"40"],[1789344060.781,"41"],[1789344090,"NaN"],[1789344120,"0"]]},
			{"metric":{"namespace":"search","statefulset":"index"},"values":[[1789344000,"3"]]}],"stats":{"samples":[1,{"a":null}]}},"warnings":["x"]}`, three},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &backtest.Past{}
			if err := read.Source("past", strings.NewReader(c.text), p); err != nil {
				t.Fatal(err)
			}
			if len(p.IDs()) != len(c.want) {
				t.Errorf("workloads %v", p.IDs())
			}
			for id, want := range c.want {
				if got := slices.Collect(p.Of(id)); !slices.Equal(got, want) {
					t.Errorf("%s:\n%v, want\n%v", id, got, want)
				}
			}
		})
	}
}

func TestWhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	const head = "time,workload,replicas\n"
	prometheus := func(values string) string {
		return `{"data":{"resultType":"matrix","result":[{"metric":{"namespace":"shop","deployment":"web"},"values":` + values + `}]}}`
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"is empty"}},
		{"\n\n", []string{"is empty"}},
		{"time,replicas\n", []string{"line 1", `"workload" is missing`}},
		{"2026-09-14T00:00:00Z,shop/web,3\n", []string{"line 1", `column "time" is missing`}},
		{head + "2026-09-14T00:00:00Z,shop/web\n", []string{"line 2", "is not CSV", "the fields of line 1"}},
		{head + "2026-09-14T00:00:00Z,shop/web,4\"2\n", []string{"line 2", "is not CSV", "quote"}},
		{head + "\n2026-09-14 00:00,shop/web,42\n", []string{"line 3", "time: must be", "2026-09-14T18:00:00Z", `"2026-09-14 00:00"`}},
		{head + "1789344000000,shop/web,42\n", []string{"line 2", "seconds", "milliseconds"}},
		{head + "1789344000,web,42\n", []string{"line 2", `"web"`, "namespace/kind/name"}},
		{head + "1789344000,kube-system/daemonset/proxy,42\n", []string{"line 2", "deployment or statefulset"}},
		{head + "1789344000,Shop/web,42\n", []string{"line 2", "DNS label"}},
		{head + "1789344000,shop/web,-1\n", []string{"line 2", "replicas", "number of pods", `"-1"`}},
		{head + "1789344000,shop/web,many\n", []string{"line 2", "replicas", `"many"`}},
		{head + "1789344000,shop/web,3e9\n", []string{"line 2", "2147483647"}},
		{head + "1789344060,shop/web,1\n1789344000,shop/web,1\n", []string{"line 3", "2026-09-14T00:00:00Z comes after 2026-09-14T00:01:00Z", "sort"}},
		{"{", []string{"unexpected EOF", "Fetch it again"}},
		{"{}", []string{"data.result"}},
		{`{"status":"timeout"}`, []string{"status", `"timeout"`}},
		{`{"data":[]}`, []string{"before byte ", "response of Prometheus", "array"}},
		{`{"status":"error","errorType":"bad_data","error":"too many points"}`, []string{"status", `is "error": Prometheus did not answer the query: "too many points". Fix the query, and fetch the response again`}},
		{`{"data":{"resultType":"vector","result":[]}}`, []string{"data.resultType", "query_range, not query"}},
		{`{"data":{"resultType":"streams","result":[]}}`, []string{"data.resultType", "must be matrix", `"streams"`}},
		{prometheus(`[[1789344000,"1"],[1789344060,"x"]]`), []string{"data.result[0].values[1]", `replicas: must be a number of pods`, `"x"`}},
		{prometheus(`[["now","1"]]`), []string{"data.result[0].values[0]", "time: must be"}},
		{prometheus(`[[1789344000]]`), []string{"data.result[0].values[0]", "replicas: must be a number of pods"}},
		{prometheus(`[]`) + "{}", []string{"has more", "file of its own"}},
		{prometheus(`[7]`), []string{"response of Prometheus", "data.result.values"}},
		{prometheus(`[[1789344000,"1"],[1789344000,"1"]]`), []string{"data.result[0].values[1]", "shop/web at 2026-09-14T00:00:00Z appears twice", "Keep one"}},
		{`{"data":{"resultType":"matrix","result":[{"metric":{"namespace":"shop","deployment":"web"},"values":[[1789344000,"1"],[17893`, []string{"unexpected EOF"}},
		{prometheus(`[[1789344000 "1"]]`), []string{"response of Prometheus", "invalid character"}},
		{`{"data":{"resultType":"matrix","result":[{"metric":{"deployment":"web"}}]}}`, []string{"data.result[0].metric", "max by (namespace, deployment)"}},
	} {
		err := read.Source("past.txt", strings.NewReader(c.text), &backtest.Past{})
		if err == nil {
			t.Errorf("%q is taken", c.text)
			continue
		}
		for _, want := range append(c.want, "past.txt") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: does not say %q: %v", c.text, want, err)
			}
		}
	}
}

// A series that occurs twice, as from two replicas of an exporter, is refused. It is not
// summed, and Source does not choose one of them.
func TestASeriesThatComesTwiceIsRefused(t *testing.T) {
	t.Parallel()
	one := `{"metric":{"namespace":"shop","deployment":"web","instance":"a"},"values":[[1789344000,"1"],[1789344060,"1"]]}`
	err := read.Source("past.json", strings.NewReader(`{"data":{"resultType":"matrix","result":[`+one+`,`+one+`]}}`), &backtest.Past{})
	if err == nil || !strings.Contains(err.Error(), "past.json: data.result[0]") || !strings.Contains(err.Error(), "past.json: data.result[1]") || !strings.Contains(err.Error(), "max by") {
		t.Errorf("%v", err)
	}
}

// A failed read is not reported as invalid text.
func TestAReadThatFails(t *testing.T) {
	t.Parallel()
	for _, begun := range []string{"", "time,workload,replicas\n", `{"data":`} {
		broken := &fs.PathError{Op: "read", Path: "past.txt", Err: errors.New("the disk is gone")}
		err := read.Source("past.txt", io.MultiReader(strings.NewReader(begun), iotest.ErrReader(broken)), &backtest.Past{})
		if err == nil || err.Error() != "read past.txt: the disk is gone" {
			t.Errorf("%q: %v", begun, err)
		}
	}
}
