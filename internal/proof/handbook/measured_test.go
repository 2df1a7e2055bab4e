package handbook

import (
	"strings"
	"testing"
)

// The README shows the measured rebuild of 400 pods: the time with Flux, and the two times
// without checkpoints.
func TestTheReadmeShowsTheMeasuredRebuild(t *testing.T) {
	t.Parallel()
	all := pages(t)
	_, row, found := strings.Cut(all["internal/docs/measured.md"], "\n| 400 | ")
	row, _, _ = strings.Cut(row, "\n")
	cells := strings.Split(row, " | ")
	if !found || len(cells) < 3 {
		t.Fatalf("measured.md has no row of 400 pods: %q", row)
	}
	deadline, late := strings.CutPrefix(cells[0], "not within ")
	if !late {
		t.Fatalf("without levels, the rebuild is %s", cells[0])
	}
	for _, want := range []string{"400 simulated pods", cells[2] + " with gitlatch", "Without gitlatch, the rebuild takes " + cells[1] + ", or more than " + deadline + " if pods fail under load"} {
		if !strings.Contains(all["README.md"], want) {
			t.Errorf("README.md does not show %q", want)
		}
	}
}
