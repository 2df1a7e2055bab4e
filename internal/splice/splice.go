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

// A Mark is a marked count in a file.
type Mark struct {
	ID    workload.ID // whose count it is
	Line  int         // where it stands, from 1
	Value int32       // what stands there, in pods; 0 or more
}

// A count is a mark and where its digits stand.
type count struct {
	Mark
	from, to int // in bytes
	node     *yaml.Node
}

// Find returns the marked counts of a file, by line; file is its name, for
// messages alone, and the kinds are those of the site. Where something is refused
// the error is a *[Refused], and the marks are those that are not: one bad mark
// keeps no other from being read.
//
// A workload may be marked more than once, in a file or in several, since two
// places can want the same number: a count, and the minimum of its autoscaler.
// Find returns each, whether or not they agree.
//
// A mark is all of a comment, at the end of the line of its value. In a text,
// such as a patch or a script in a block, it is none, and neither is what a
// comment in a line of its own tells of marks. JSON has no comments, so that a
// JSON file that holds the sign is refused. A file without it has no marks,
// whatever else it is: it need not be YAML.
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

// Edit returns the file with the counts, in pods, at least 1, that to wants for the
// workloads marked in it. Nothing else changes: quotes stay, and so does a
// marked count that to does not name. A workload of to that the file does not
// mark is passed over, so that one to can serve many files. Every mark of a
// workload gets its count. Where each has it already the result is data itself.
//
// The edit is whole or not done: a *[Refused], and no bytes, is returned if any
// mark of a workload in to is refused, or one that does not say whose it is, or
// the file. A refused mark of another workload is in nobody's way. To edit the
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

// replace returns the file with the wanted counts where the marked ones are.
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
