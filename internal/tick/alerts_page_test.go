package tick

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The page on troubleshooting shows a mass drop exactly as gitlatch sends it.
func TestTheSampleOfThePageIsARealAlert(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 2, 16, 19, 0, 0, time.UTC)
	fall := func(name string, from, to int32) latch.Fall {
		return latch.Fall{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, From: from, To: to}
	}
	drop := latch.Drop{Since: at, Workloads: 3, Of: 4, Worst: []latch.Fall{fall("api", 87, 9), fall("web", 42, 4), fall("cart", 18, 2)}}
	_, sent := alert.Advance("prod-eu", nil, []alert.Condition{massDrop("prod-eu", drop)}, at, time.Hour)
	indented := strings.ReplaceAll("\n"+sent[0].Message(), "\n", "\n    ")
	sample := strings.ReplaceAll(indented, "    \n", "\n")
	if !strings.Contains(string(page), strings.TrimRight(sample, " ")) {
		t.Errorf("the page has no sample:\n%s", sample)
	}
}
