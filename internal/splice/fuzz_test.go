package splice

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// For any content of a file, an edit either changes the marked replica counts and no
// other byte, or is refused. Everything that counts as a marker is a comment. To search
// for a counterexample, with little time for making it smaller:
//
//	go test ./internal/splice -run '^$' -fuzz FuzzEdit -fuzztime 10m -fuzzminimizetime 10x
func FuzzEdit(f *testing.F) {
	for _, folder := range []string{"before", "refused"} {
		for _, data := range read(f, folder) {
			f.Add(data, int32(20))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, count int32) { check(t, data, count) })
}

// check edits all markers of a file and checks the edit. It returns the new file with
// the markers before the edit; nil if the edit is refused.
func check(t *testing.T, data []byte, count int32) (after []byte, marks []Mark, to map[workload.ID]int32) {
	t.Helper()
	kept := bytes.Clone(data)
	marks, err := Find("f", data, nil)
	var refused *Refused
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("error %T", err)
	}
	if problem := unseen(data, marks, refused); problem != "" {
		t.Fatalf("%s of\n%q\nerror %v", problem, data, err)
	}
	to = map[workload.ID]int32{}
	for i, m := range marks {
		to[m.ID] = max(count^int32(i), 1)
	}
	after, err = Edit("f", data, to)
	if !bytes.Equal(data, kept) {
		t.Fatal("Edit changed what it was given")
	}
	if err != nil {
		if !errors.As(err, &refused) || strings.Contains(err.Error(), "bug in gitlatch") {
			t.Fatalf("%q: %v", data, err)
		}
		return nil, nil, nil
	}
	if problem := moved(data, after, marks, to); problem != "" {
		t.Fatalf("%s:\n%q became\n%q", problem, data, after)
	}
	if problem := spoken(data, marks); problem != "" {
		t.Fatal(problem)
	}
	wanted := slices.Clone(marks)
	for i, m := range marks {
		wanted[i].Value = to[m.ID]
	}
	if again, _ := Find("f", after, nil); !slices.Equal(again, wanted) {
		t.Fatalf("holds %v after the edit, want %v", again, wanted)
	}
	if again, err := Edit("f", after, to); err != nil || !bytes.Equal(again, after) {
		t.Fatalf("a second edit makes\n%q\nerror %v", again, err)
	}
	return after, marks, to
}

// spoken returns a marker that is not a comment. A marker is a comment if the file has
// the same value without the text from # on.
func spoken(data []byte, marks []Mark) string {
	rows := bytes.SplitAfter(bytes.Clone(data), []byte("\n"))
	for _, m := range marks {
		row := rows[m.Line-1]
		at := bytes.LastIndex(row, []byte("#"))
		end := bytes.TrimRight(row, "\r\n")
		for i := at; i < len(end); i++ {
			row[i] = ' '
		}
	}
	was, err := values(data)
	is, errWithout := values(bytes.Join(rows, nil))
	if len(marks) > 0 && (err != nil || errWithout != nil || !slices.Equal(was, is)) {
		return fmt.Sprintf("without its marks it says\n%q\nand with them\n%q\nerrors %v, %v", is, was, err, errWithout)
	}
	return ""
}

// ofFile are the first words of problems without a line.
var ofFile = regexp.MustCompile(`^(is|contains|its|cannot) `)

// unseen returns a sign in a comment that is not a marker, not refused, and not in a
// line that is a comment about markers.
func unseen(data []byte, marks []Mark, refused *Refused) string {
	var seen []int
	for _, m := range marks {
		seen = append(seen, m.Line)
	}
	if refused != nil {
		for _, p := range refused.Problems {
			if ofFile.MatchString(p.Text) {
				return ""
			}
			seen = append(seen, p.Line)
		}
	}
	was, _ := values(data)
	for _, at := range signs(data)[:min(len(signs(data)), 20)] {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		row := bytes.Split(bytes.TrimPrefix(data, bom), []byte("\n"))[line-1]
		if comment := bytes.TrimLeft(row, " \t"); bytes.HasPrefix(comment, []byte("#")) && !bytes.HasPrefix(bytes.TrimLeft(comment, "# \t"), []byte("{")) {
			continue
		}
		other := bytes.Clone(data)
		copy(other[at:], "$GITLATCH")
		is, err := values(other)
		if err == nil && slices.Equal(was, is) != slices.Contains(seen, line) && !bytes.Contains(row[bytes.Index(row, []byte(sign))+1:], []byte(sign)) {
			return fmt.Sprintf("line %d: in a comment: %v, found or refused: %v", line, slices.Equal(was, is), slices.Contains(seen, line))
		}
	}
	return ""
}
