package splice

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gitlatch/gitlatch/internal/workload"
	"go.yaml.in/yaml/v3"
)

// A Mark is a marked replica count in a file.
type Mark struct {
	ID    workload.ID // the marked workload
	Line  int         // from 1
	Value int32       // the number in the file, in pods; 0 or more
}

// A count is a Mark and the position of its digits.
type count struct {
	Mark
	from, to int // in bytes
	node     *yaml.Node
}

// Find returns the marked replica counts of a file, by line. file is its name, for errors
// alone, and kinds are the kinds of the site. If a marker is refused, the error is a
// *[Refused], and the other marks are returned.
//
// A workload may be marked more than once, in one file or in several, because two places
// can have the same number: a replica count, and the minimum of its autoscaler. Find
// returns each mark, even if their numbers differ.
//
// A marker is a complete comment at the end of the line of its value. In a text, such as
// a patch or a script in a block, the sign is not a marker. A comment on its own line may
// describe markers. JSON has no comments, so a JSON file with the sign is refused. A file
// without the sign has no markers, and need not be YAML.
func Find(file string, data []byte, kinds workload.Kinds) ([]Mark, error) {
	found := find(file, data)
	marks := make([]Mark, 0, len(found.counts))
	for _, c := range found.counts {
		if err := counted(c.ID.Kind, kinds); err != nil {
			found.problems = append(found.problems, Problem{File: file, Line: c.Line, ID: c.ID, Text: err.Error()})
			continue
		}
		marks = append(marks, c.Mark)
	}
	slices.SortStableFunc(found.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return marks, join(found.problems)
}

// Edit returns the file with the numbers in to, in pods, at least 1, for the workloads
// that are marked in it. Quotes, other bytes and the numbers of workloads that are not in
// to stay the same. Edit ignores a workload in to that the file does not mark, so that
// one map can serve many files. It changes every marker of a workload. If no number
// changes, the result is data itself.
// workload gets its count. Where each has it already the result is data itself.
// Edit changes all numbers or none. It returns a *[Refused] and no bytes if it refuses
// the file, a marker of a workload in to, or a marker that names no workload. It ignores
// refused markers of other workloads. To edit the rest of a file, remove the workloads of
// its problems from to.
// rest of a file take the workloads of its problems out of to.
func Edit(file string, data []byte, to map[workload.ID]int32) ([]byte, error) {
	if len(to) == 0 {
		return data, nil
	}
	found := find(file, data)
	found.problems = slices.DeleteFunc(found.problems, func(p Problem) bool {
		_, wanted := to[p.ID]
		return !wanted && p.ID != (workload.ID{})
	})
	if err := join(found.problems); err != nil {
		return nil, err
	}
	return found.replace(file, data, to)
}

// replace returns the file with the wanted numbers in place of the marked ones.
func (f found) replace(file string, data []byte, to map[workload.ID]int32) ([]byte, error) {
	var out bytes.Buffer
	changed := map[*yaml.Node]string{}
	done := 0
	for _, c := range f.counts {
		if want, ok := to[c.ID]; ok && want != c.Value {
			digits := strconv.Itoa(int(want))
			changed[c.node] = digits
			out.Write(data[done:c.from])
			out.WriteString(digits)
			done = c.to
		}
	}
	if done == 0 {
		return data, nil
	}
	out.Write(data[done:])
	if err := prove(f.documents, out.Bytes(), changed); err != nil {
		return nil, join([]Problem{{File: file, Text: fmt.Sprintf("was not changed, because %s. This is a bug in gitlatch. Report it with the file", err)}})
	}
	return out.Bytes(), nil
}
