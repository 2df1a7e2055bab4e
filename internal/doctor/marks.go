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
			at, object := f.Path, "this file"
			if r.Line > 0 {
				at, object = fmt.Sprintf("%s:%d", f.Path, r.Line), "the number at the marker"
			}
			if r.ID != (workload.ID{}) {
				object += " of " + r.ID.String()
			}
			problem, fix := remedied(r.Text)
			if !strings.Contains(fix, "inPlace") {
				fix += ", or " + unlist
			}
			e.find(MarkRefused, at, fmt.Sprintf("gitlatch cannot update %s%s.", object, because(problem)), fix)
		}
		if len(f.Marks)+len(f.Refused) == 0 {
			e.find(MarkRefused, f.Path, "The policy lists this file in inPlace, but the file has no marker.", "add a marker to a replica count, or "+unlist)
		}
		for _, id := range slices.SortedFunc(maps.Keys(f.Marks), workload.Compare) {
			says, level := f.Marks[id], entries[id].Replicas
			runs := slices.ContainsFunc(e.Fleet.Samples, func(s workload.Sample) bool { return s.ID == id })
			differs := slices.ContainsFunc(says, func(n int32) bool { return n != level })
			switch {
			case level == 0 && !runs && len(e.Fleet.Unread) == 0 && e.Tree.Broken[id.Namespace] == nil:
				e.find(MarkUnknown, f.Path, fmt.Sprintf("The marker names %s, but this workload is neither in the cluster nor in git.", id), "correct the name, or remove the marker")
			case level > 0 && differs && slices.Contains(says, 0):
				e.find(MarkDiffers, f.Path, fmt.Sprintf("The level of %s is %d, but the number at its marker is 0. gitlatch never changes the number 0, because 0 means that the workload is suspended.", id, level), fmt.Sprintf("write %d at the marker", level))
			case level > 0 && differs:
				e.find(MarkDiffers, f.Path, fmt.Sprintf("The level of %s is %d, but the number at its marker is %s.", id, level, strings.Trim(fmt.Sprint(says), "[]")),
					fmt.Sprintf("if the next tick does not change the number, write %d at the marker", level))
			}
		}
	}
}

// because joins a problem to a sentence. A problem that starts with a verb has the file or
// the number as its subject.
func because(problem string) string {
	verb, _, _ := strings.Cut(problem, " ")
	if slices.Contains([]string{"is", "has", "was", "must", "cannot", "contains", "leads"}, verb) {
		return ", because it " + problem
	}
	return ": " + problem
}

// remedied splits the text of a refusal into the problem and its remedy, which is the
// last sentence. A text of one sentence has a general remedy.
func remedied(text string) (problem, fix string) {
	end := strings.LastIndex(text, ". ")
	if end < 0 {
		return text, "correct the marker"
	}
	fix = text[end+len(". "):]
	return text[:end], strings.ToLower(fix[:1]) + fix[1:]
}
