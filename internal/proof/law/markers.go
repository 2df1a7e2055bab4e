package law

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// had adds the levels that an entry had.
func (w *Witness) had(change checkpoint.Change) {
	if w.levels[change.ID] == nil {
		w.levels[change.ID] = map[int32]bool{}
	}
	w.levels[change.ID][change.From.Replicas] = true
	w.levels[change.ID][change.To.Replicas] = true
}

// overwrites reports a number with a marker that gitlatch changed although the entry
// never had that level, and the marker, the file and the entry existed before. It skips a
// workload with two markers in a file, an entry that git and the state had lost, also if
// the state has the removal of an entry whose checkpoint file was then broken, a file with
// a marker that gitlatch refused, because a corrected marker counts as new, a commit that
// another tick already agreed with, and a push that lands late, because the agreement of
// its tick is no longer known.
func overwrites(s *Seen) string {
	if s.agreed == "" || s.Moved || !s.below(s.After.Tip, s.agreed) {
		return ""
	}
	agreed := s.World.Repository.Show(s.agreed)
	for _, c := range s.Mine {
		for _, path := range c.Paths {
			if s.below(s.agreed, c.ID) || !slices.Contains(s.named, path) {
				continue
			}
			known := marksIn(agreed[path])
			if s.refuses(agreed[path]) {
				continue
			}
			after := marksIn(s.World.Repository.Show(c.ID)[path])
			for id, was := range marksIn(s.World.Repository.Show(c.Parents[0])[path]) {
				lost := s.blind[id.Namespace] != nil || s.unread(s.agreed)[id.Namespace] != nil && s.Before.Latches[id].Declared.IsZero()
				old := len(known[id]) == 1 && s.at(s.agreed)[id].Replicas > 0 && !lost
				if old && len(was) == 1 && !slices.Equal(after[id], was) && !s.levels[id][was[0]] {
					return fmt.Sprintf("%s changes %d to %d for %s in %s, and its entry never had that level", subject(c), was, after[id], id, path)
				}
			}
		}
	}
	return ""
}

// refuses reports whether a file has a marker that gitlatch cannot read.
func (s *Seen) refuses(text string) bool {
	read := 0
	for id, numbers := range marksIn(text) {
		if _, is := s.Told.Kinds.Object(id.Kind); is {
			read += len(numbers)
		}
	}
	return read < strings.Count(text, "$gitlatch")
}

var marked = regexp.MustCompile(`: (\d+) # \{"\$gitlatch": "([^"]+)"\}`)

// marksIn returns the marked numbers in a text.
func marksIn(text string) map[workload.ID][]int32 {
	marks := map[workload.ID][]int32{}
	for _, found := range marked.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(found[1])
		id, wrong := workload.ParseID(found[2])
		if err == nil && wrong == nil {
			marks[id] = append(marks[id], int32(n))
		}
	}
	return marks
}
