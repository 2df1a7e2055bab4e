package latch_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The stored form outlives a release. A change here requires a new latch.Format, or a
// form that both the older and the newer release read correctly.
func TestStoredFormIsStable(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 1, time.UTC)
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	watch := latch.Stopwatch{Since: noon, Lost: time.Minute, Paused: noon}
	check(t, latch.Latch{ID: web},
		`{"format":1,"state":{"id":"shop/deployment/web"}}`)
	check(t, latch.Latch{
		ID:         web,
		Declared:   checkpoint.Entry{Replicas: 200, Min: 3, Max: 500},
		Up:         latch.Up{Levels: []int32{500, 1000}},
		Down:       latch.Down{Level: 100, Count: 2, Stopwatch: watch},
		Freeze:     latch.Freeze{Reason: "unread", Since: noon},
		GraceUntil: noon,
		OptedOut:   true,
		Missing:    watch,
		Recent:     latch.Recent{{Pods: 20, Until: noon}, {Pods: 12}},
		Watch: latch.Watch{Episodes: []latch.Episode{{Kind: "brake-left", Since: noon, From: 7, Raised: true}},
			Usual: 0.5, Learned: noon, Measured: noon},
		Rev: 7,
	}, `{"format":1,"state":{"id":"shop/deployment/web","declared":{"replicas":200,"min":3,"max":500},`+
		`"up":{"levels":[500,1000]},`+
		`"down":{"level":100,"count":2,"since":"2026-11-20T12:00:00.000000001Z","lost":60000000000,"paused":"2026-11-20T12:00:00.000000001Z"},`+
		`"freeze":{"reason":"unread","since":"2026-11-20T12:00:00.000000001Z"},`+
		`"graceUntil":"2026-11-20T12:00:00.000000001Z","optedOut":true,`+
		`"missing":{"since":"2026-11-20T12:00:00.000000001Z","lost":60000000000,"paused":"2026-11-20T12:00:00.000000001Z"},`+
		`"recent":[{"pods":20,"until":"2026-11-20T12:00:00.000000001Z"},{"pods":12}],`+
		`"watch":{"episodes":[{"kind":"brake-left","since":"2026-11-20T12:00:00.000000001Z","from":7,"raised":true}],`+
		`"usual":0.5,"learned":"2026-11-20T12:00:00.000000001Z","measured":"2026-11-20T12:00:00.000000001Z"},"rev":7}}`)
	check(t, latch.Head{
		Agreed: latch.Agreed{Tip: "c0ffee", PolicySource: []byte("x")},
		Proposal: &latch.Proposal{Branch: "b", Head: "c0ffee", Closing: "c0ffee",
			Repairs: []latch.Repair{{Namespace: "shop", Text: "2"}}},
	}, `{"format":1,"state":{"agreed":{"tip":"c0ffee","policySource":"eA=="},`+
		`"proposal":{"branch":"b","head":"c0ffee","closing":"c0ffee","opened":"0001-01-01T00:00:00Z",`+
		`"repairs":[{"namespace":"shop","text":"2"}]}}}`)
	check(t, latch.Lease{Site: "prod", Owner: "a", Until: noon, Fence: 3},
		`{"format":1,"state":{"site":"prod","owner":"a","until":"2026-11-20T12:00:00.000000001Z","fence":3}}`)
}

func check[T latch.Stored](t *testing.T, v T, want string) {
	t.Helper()
	data, err := latch.Encode(v)
	if err != nil || string(data) != want {
		t.Errorf("error %v, stored as\n%s\nwant\n%s", err, data, want)
	}
	back, err := latch.Decode[T]("test", data)
	if err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("error %v, read as %+v", err, back)
	}
}

// A field without a tag is stored under its Go name, and a rename would lose it.
func TestEveryStoredFieldIsNamed(t *testing.T) {
	t.Parallel()
	for _, full := range []any{latchtest.Full[latch.Latch](), latchtest.Full[latch.Head](), latchtest.Full[latch.Lease]()} {
		data, err := json.Marshal(full) // the stored form, without compression
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range regexp.MustCompile(`"[A-Z]\w*":`).FindAllString(string(data), -1) {
			t.Errorf("field %s is stored under its Go name", field)
		}
	}
}
