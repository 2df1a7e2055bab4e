package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// marks reports files that gitlatch cannot edit in place, markers of unknown workloads,
// and markers whose number differs from the level.
func (e *examination) marks() {
	const unlist = "remove the file from inPlace in the policy"
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
			e.find(MarkRefused, at, whose+r.Text, "correct the marker, or "+unlist)
		}
		if len(f.Marks)+len(f.Refused) == 0 {
			e.find(MarkRefused, f.Path, "The file has no marker.", "add a marker to a replica count, or "+unlist)
		}
		for _, id := range slices.SortedFunc(maps.Keys(f.Marks), workload.Compare) {
			says, level := f.Marks[id], entries[id].Replicas
			runs := slices.ContainsFunc(e.Fleet.Samples, func(s workload.Sample) bool { return s.ID == id })
			differs := slices.ContainsFunc(says, func(n int32) bool { return n != level })
			switch {
			case level == 0 && !runs && len(e.Fleet.Unread) == 0 && e.Tree.Broken[id.Namespace] == nil:
				e.find(MarkUnknown, f.Path, fmt.Sprintf("The marker names %s, which the cluster and git do not have.", id), "correct the name, or remove the marker")
			case level > 0 && differs && slices.Contains(says, 0):
				e.find(MarkDiffers, f.Path, fmt.Sprintf("The level of %s is %d, and the number at its marker is 0. gitlatch never changes 0, which means suspended.", id, level), fmt.Sprintf("write %d at the marker", level))
			case level > 0 && differs:
				e.find(MarkDiffers, f.Path, fmt.Sprintf("The level of %s is %d, and the number at its marker is %s.", id, level, strings.Trim(fmt.Sprint(says), "[]")),
					fmt.Sprintf("if the next tick does not change the number, write %d at the marker", level))
			}
		}
	}
}
