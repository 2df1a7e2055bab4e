package gitwire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A header is what a commit says of itself.
type header struct {
	tree    plumbing.Hash
	parents []plumbing.Hash
	author  string // name <email>
	by      string // its committer, name <email>
	when    time.Time
	message string
}

var errMalformed = errors.New("malformed")

func parseCommit(data []byte) (h header, err error) {
	head, message, _ := strings.Cut(string(data), "\n\n")
	h.message = message
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			h.tree = plumbing.NewHash(value)
		case "parent":
			h.parents = append(h.parents, plumbing.NewHash(value))
		case "author":
			if h.author == "" {
				h.author, h.when = parseAuthor(value)
			}
		case "committer":
			if h.by == "" {
				h.by, _ = parseAuthor(value)
			}
		}
	}
	if h.tree.IsZero() {
		return header{}, errMalformed
	}
	return h, nil
}

// parseAuthor reads "name <email> seconds zone".
func parseAuthor(value string) (string, time.Time) {
	end := strings.LastIndexByte(value, '>') + 1
	return value[:end], repo.ParseStamp(value[end:])
}

// commitObject is a commit with one parent, made at one time by one author.
func commitObject(tree, parent plumbing.Hash, by Author, when time.Time, message string) object {
	var b bytes.Buffer
	stamp := fmt.Sprintf("%s <%s> %d +0000", by.Name, by.Email, when.Unix())
	fmt.Fprintf(&b, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\n", tree, parent, stamp, stamp)
	b.WriteString(strings.TrimRight(message, "\n") + "\n")
	return object{plumbing.CommitObject, b.Bytes()}
}

// withSignature is a commit with a signature as the last line of its header, on
// whose further lines each begins with a space.
func withSignature(commit object, signature string) object {
	head, message, _ := bytes.Cut(commit.data, []byte("\n\n"))
	folded := strings.ReplaceAll(strings.TrimRight(signature, "\n"), "\n", "\n ")
	return object{plumbing.CommitObject, fmt.Appendf(nil, "%s\ngpgsig %s\n\n%s", head, folded, message)}
}

// An entry is one line of a tree. raw is the line as the tree holds it: modes
// are written in more than one way, and a line that is not changed must keep
// the one that it has.
type entry struct {
	mode string
	name string
	id   plumbing.Hash
	raw  []byte
}

func newEntry(mode, name string, id plumbing.Hash) entry {
	raw := append([]byte(mode+" "+name+"\x00"), id[:]...)
	return entry{mode, name, id, raw}
}

// withID is the entry pointing to another object, and otherwise the same.
func (e entry) withID(id plumbing.Hash) entry { return newEntry(e.mode, e.name, id) }

// kind says what an entry is, by its mode.
func (e entry) kind() repo.Kind {
	switch mode := strings.TrimLeft(e.mode, "0"); {
	case mode == "40000":
		return repo.Folder
	case mode == "120000":
		return repo.Symlink
	case mode == "160000":
		return repo.Submodule
	case strings.HasPrefix(mode, "100"):
		return repo.File
	}
	return repo.Riddle
}

func parseTree(data []byte) ([]entry, error) {
	var entries []entry
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		null := bytes.IndexByte(data, 0)
		end := null + 1 + len(plumbing.Hash{})
		if space < 1 || null < space || end > len(data) {
			return nil, errMalformed
		}
		e := entry{mode: string(data[:space]), name: string(data[space+1 : null]), raw: data[:end]}
		copy(e.id[:], data[null+1:end])
		entries = append(entries, e)
		data = data[end:]
	}
	return entries, nil
}

func treeObject(entries []entry) object {
	var b bytes.Buffer
	for _, e := range entries {
		b.Write(e.raw)
	}
	return object{plumbing.TreeObject, b.Bytes()}
}

// order is git's order of the entries of a tree: by name, in which the name of
// a tree ends with a slash.
func order(a, b entry) int { return strings.Compare(a.sortKey(), b.sortKey()) }

func (e entry) sortKey() string {
	if e.kind() == repo.Folder {
		return e.name + "/"
	}
	return e.name
}
