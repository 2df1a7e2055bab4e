package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// marks notes what keeps files from being edited in place, and marks that are of
// nobody or say something else than git declares.
func (e *examination) marks() {
	entries := e.Tree.Entries()
	for _, f := range e.InPlace {
		for _, r := range f.Refused {
			at, whose := f.Path, ""
			if r.Line > 0 {
				at = fmt.Sprintf("%s:%d", f.Path, r.Line)
			}
			if r.ID != (workload.ID{}) {
				whose = r.ID.String() + ": "
			}
			e.find(MarkRefused, at, whose+r.Text)
		}
		if len(f.Marks)+len(f.Refused) == 0 {
			e.find(MarkRefused, f.Path, "it has no marker: mark a count, or take it out of inPlace of the policy")
		}
		for _, id := range slices.SortedFunc(maps.Keys(f.Marks), workload.Compare) {
			says, level := f.Marks[id], entries[id].Replicas
			runs := slices.ContainsFunc(e.Fleet.Samples, func(s workload.Sample) bool { return s.ID == id })
			differs := slices.ContainsFunc(says, func(n int32) bool { return n != level })
			switch {
			case level == 0 && !runs && len(e.Fleet.Unread) == 0 && e.Tree.Broken[id.Namespace] == nil:
				e.find(MarkUnknown, f.Path, fmt.Sprintf("it marks %s, which neither runs nor is declared: mend its name, or remove the mark", id))
			case level > 0 && differs && slices.Contains(says, 0):
				e.find(MarkDiffers, f.Path, fmt.Sprintf("%s is declared at %d and marked at 0, which stands for suspended and is left as it is: write %[2]d to make it follow the checkpoint", id, level))
			case level > 0 && differs:
				e.find(MarkDiffers, f.Path, fmt.Sprintf("%s is declared at %d and marked at %s: if the next tick does not change that, write %[2]d to make it follow the checkpoint", id, level, strings.Trim(fmt.Sprint(says), "[]")))
			}
		}
	}
}
