package inplace

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Mark is the marked numbers of a workload in a file, or the reason why they are
// refused.
type Mark struct {
	File    string      `json:"file"`
	Line    int         `json:"line,omitempty"`    // the refused line; 0 for a Mark without a line
	ID      workload.ID `json:"workload,omitzero"` // zero if it is about the file
	Counts  []int32     `json:"says,omitempty"`    // the marked numbers, in pods and by line
	Level   int32       `json:"declared,omitempty"`
	Refused bool        `json:"refused,omitempty"` // the marker cannot be edited
	Theirs  bool        `json:"theirs,omitempty"`  // a user wrote one of the numbers
	Text    string      `json:"text,omitempty"`    // why the numbers do not follow the level; "" if they do
}

// Behind reports whether the numbers follow the level and differ from it.
func (m Mark) Behind() bool { return m.Text == "" && differ(m.Counts, m.Level) }

// Where returns the file, with the line if the Mark has one.
func (m Mark) Where() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d", m.File, m.Line)
	}
	return m.File
}

// Describe returns the marked numbers and the text, for a user.
func (m Mark) Describe() string {
	var texts []string
	if len(m.Counts) > 0 {
		texts = append(texts, "has "+numbers(m.Counts))
	}
	if m.Text != "" {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, "; ")
}

// Err returns the text with its place, for a user.
func (m Mark) Err() error {
	return splice.Problem{File: m.File, Line: m.Line, ID: m.ID, Text: m.Text}
}

func numbers(counts []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", ", "), "[]")
}

func differ(counts []int32, level int32) bool {
	return slices.ContainsFunc(counts, func(n int32) bool { return n != level })
}

// A Cover names the workloads whose level may be in a file that acts on the live cluster.
type Cover struct {
	Evidence checkpoint.Evidence
	Risk     map[workload.ID]bool // by sampled workload, whether its policy accepts the risk
	AllRisk  bool                 // all policies accept the risk
}

func (c Cover) covers(id workload.ID) bool {
	_, covered := c.Evidence.Covers(id)
	return covered || c.Risk[id] || c.AllRisk
}

// A Rule distinguishes the numbers that follow the entries from the numbers that users
// wrote.
type Rule struct {
	// Levels are, by workload, the levels that its entry had at the agreed commit and
	// since then. A workload without levels had no entry at the agreed commit.
	Levels map[workload.ID][]int32
	// Agreed are the files at the agreed commit.
	Agreed []File
	// Asked are the files that an open proposal edits, before and after its commit.
	Asked, Asks []File
	Cover       Cover
}

// With returns the rule with more levels that entries had.
func (r Rule) With(entries map[workload.ID]checkpoint.Entry) Rule {
	levels := maps.Clone(r.Levels)
	for id, e := range entries {
		if _, old := levels[id]; old {
			levels[id] = append(slices.Clip(levels[id]), e.Replicas)
		}
	}
	r.Levels = levels
	return r
}

// Levels returns the levels of entries in the form of Rule.Levels.
func Levels(entries map[workload.ID]checkpoint.Entry) map[workload.ID][]int32 {
	levels := map[workload.ID][]int32{}
	for id, e := range entries {
		if e.Replicas > 0 {
			levels[id] = []int32{e.Replicas}
		}
	}
	return levels
}

// follows reports whether the numbers of a workload in a file follow its entry: the entry
// had that level, the number or the entry is new, or the open proposal changes the number.
func (r Rule) follows(file string, id workload.ID, counts []int32) bool {
	before := marksIn(r.Agreed, file, id)
	asked := marksIn(r.Asked, file, id)
	asks := !slices.Equal(asked, marksIn(r.Asks, file, id)) && slices.Equal(asked, counts)
	levels := r.Levels[id]
	if len(levels) == 0 || asks {
		return true
	}
	added := len(counts) > len(before)
	for _, n := range counts {
		fresh := added && !slices.Contains(before, n) // a new marker
		if !slices.Contains(levels, n) && !fresh {
			return false
		}
	}
	return true
}

// marksIn returns the numbers of a workload in one of the files.
func marksIn(files []File, path string, id workload.ID) []int32 {
	f, _ := lists.First(files, func(f File) bool { return f.Path == path })
	return f.Marks[id]
}

// Settled reports whether every number in the files is a level that its entry had.
func (r Rule) Settled(files []File) bool {
	for _, f := range files {
		for id, counts := range f.Marks {
			levels := r.Levels[id]
			if slices.ContainsFunc(counts, func(n int32) bool { return !slices.Contains(levels, n) }) {
				return false
			}
		}
	}
	return true
}

// Judge compares the markers in the files with the levels of the entries. The results for
// each file start with the refused markers. The others are in the order of
// workload.Compare.
func (r Rule) Judge(files []File, entries map[workload.ID]checkpoint.Entry) (all []Mark) {
	for _, f := range files {
		for _, p := range f.Refused {
			all = append(all, Mark{File: f.Path, Line: p.Line, ID: p.ID, Refused: true, Text: p.Text})
		}
		for _, id := range slices.SortedFunc(maps.Keys(f.Marks), workload.Compare) {
			m := Mark{File: f.Path, ID: id, Counts: f.Marks[id], Level: entries[id].Replicas}
			m.Text = r.left(m)
			if m.Behind() && !r.follows(f.Path, id, m.Counts) {
				m.Theirs = true
				m.Text = fmt.Sprintf("a user wrote this number, and gitlatch does not change it: write %d to make it follow the checkpoint", m.Level)
			}
			all = append(all, m)
		}
		if len(f.Marks) == 0 && len(f.Refused) == 0 {
			all = append(all, Mark{File: f.Path, Text: "it has no marker"})
		}
	}
	return all
}

// left returns the reason why gitlatch writes no number for a workload, even if no user
// wrote the present one; "" if gitlatch may write one.
func (r Rule) left(m Mark) string {
	switch {
	case m.Level == 0:
		return "git has no level for it, so gitlatch does not change the number"
	case slices.Contains(m.Counts, 0):
		return fmt.Sprintf("0 means suspended, so gitlatch does not change it: write %d to make it follow the checkpoint", m.Level)
	case differ(m.Counts, m.Level) && !r.Cover.covers(m.ID):
		return "no rule protects the live replica count, so gitlatch does not change the number. Run gitlatch doctor --write to look for one"
	}
	return ""
}

// Write returns the new content of each file with numbers that are behind. If a file
// cannot be edited, Write returns it in refused instead.
func Write(files []File, marks []Mark) (written map[string][]byte, refused []Mark) {
	written = map[string][]byte{}
	for _, f := range files {
		want := map[workload.ID]int32{}
		for _, m := range marks {
			if m.File == f.Path && m.Behind() {
				want[m.ID] = m.Level
			}
		}
		data, err := splice.Edit(f.Path, f.Data, want)
		switch {
		case err != nil:
			refused = append(refused, Mark{File: f.Path, Refused: true, Text: err.Error()})
		case !bytes.Equal(data, f.Data):
			written[f.Path] = data
		}
	}
	return written, refused
}
