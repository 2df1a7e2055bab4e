//go:build long

package simulator

import (
	"cmp"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var defects = flag.Bool("defects", false, "build the product with each defect of testdata/defects, and play until it is found")

// Each defect in testdata/defects breaks, within 100,000 ticks, the law that its head
// names. "only" limits the drawn events if most of them would only take time, and "clouds" is
// the share of histories with the adapters of AWS, in percent; 0 by default.
func TestSeededDefectsAreFound(t *testing.T) {
	tried := seeded(t)
	if !*defects {
		tried = tried[:1] // make faults tries all of them
	}
	caught := 0
	for _, file := range tried {
		t.Run(name(file), func(t *testing.T) {
			defect, overlay := apply(t, file)
			law, only, clouds := head(defect, "law"), head(defect, "only"), cmp.Or(head(defect, "clouds"), "0")
			out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count", "1", "-timeout", "1h", ".",
				"-run", "^TestRandomHistoriesBreakNoLaw$", "-ticks", "100000", "-clouds", clouds, "-law", law, "-only", only).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "histories break the law that "+law+":") {
				t.Fatalf("does not break the law that %s: %v\n%s", law, err, out)
			}
			caught++
		})
	}
	fmt.Printf("figure seeded_defects %d\nfigure seeded_defects_caught %d\n", len(tried), caught)
}

// head returns the value of a line in the head of a defect; "" without that line.
func head(defect *txtar.Archive, key string) string {
	found := regexp.MustCompile(`(?m)^` + key + `: (.*)$`).FindSubmatch(defect.Comment)
	if found == nil {
		return ""
	}
	return string(found[1])
}
