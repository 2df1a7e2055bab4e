package pack

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Header is the parsed content of a commit.
type Header struct {
	Tree    plumbing.Hash
	parents []plumbing.Hash
	author  string // name <email>
	by      string // committer, name <email>
	when    time.Time
	message string
}

var (
	errMalformed = errors.New("malformed")
	ErrSHA256    = errors.New("its objects have SHA-256 ids, only SHA-1 is supported")
)

// ParseCommit reads the content of a commit.
func ParseCommit(data []byte) (h Header, err error) {
	head, message, _ := strings.Cut(string(data), "\n\n")
	h.message = message
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			h.Tree = plumbing.NewHash(value)
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
	if h.Tree.IsZero() {
		return Header{}, errMalformed
	}
	return h, nil
}

// parseAuthor reads "name <email> seconds zone".
func parseAuthor(value string) (string, time.Time) {
	end := strings.LastIndexByte(value, '>') + 1
	return value[:end], repo.ParseStamp(value[end:])
}

// CommitObject returns a commit with one parent. by is its author and committer, and when
// is its time.
func CommitObject(tree, parent plumbing.Hash, by string, when time.Time, message string) Object {
	var b bytes.Buffer
	stamp := fmt.Sprintf("%s %d +0000", by, when.Unix())
	fmt.Fprintf(&b, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\n", tree, parent, stamp, stamp)
	b.WriteString(strings.TrimRight(message, "\n") + "\n")
	return Object{plumbing.CommitObject, b.Bytes()}
}

// WithSignature returns a commit with a signature as the last field of its header. Each
// further line of the signature starts with a space.
func WithSignature(commit Object, signature string) Object {
	head, message, _ := bytes.Cut(commit.Data, []byte("\n\n"))
	folded := strings.ReplaceAll(strings.TrimRight(signature, "\n"), "\n", "\n ")
	return Object{plumbing.CommitObject, fmt.Appendf(nil, "%s\ngpgsig %s\n\n%s", head, folded, message)}
}

// An Entry is one entry of a tree. raw are its bytes in the tree. Modes are written in
// more than one form, and an unchanged entry must have the same bytes in the new tree.
type Entry struct {
	Mode string
	Name string
	ID   plumbing.Hash
	raw  []byte
}

// NewEntry returns an entry in the form that git writes.
func NewEntry(mode, name string, id plumbing.Hash) Entry {
	raw := append([]byte(mode+" "+name+"\x00"), id[:]...)
	return Entry{mode, name, id, raw}
}

// WithID returns the entry with the id of another object.
func (e Entry) WithID(id plumbing.Hash) Entry { return NewEntry(e.Mode, e.Name, id) }

// Kind returns the kind of an entry, according to its mode.
func (e Entry) Kind() repo.Kind {
	switch mode := strings.TrimLeft(e.Mode, "0"); {
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

// ParseTree reads the entries of a tree.
func ParseTree(data []byte) ([]Entry, error) {
	var entries []Entry
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		null := bytes.IndexByte(data, 0)
		end := null + 1 + len(plumbing.Hash{})
		if space < 1 || null < space || end > len(data) {
			return nil, errMalformed
		}
		e := Entry{Mode: string(data[:space]), Name: string(data[space+1 : null]), raw: data[:end]}
		copy(e.ID[:], data[null+1:end])
		entries = append(entries, e)
		data = data[end:]
	}
	return entries, nil
}

// Named returns the entry with a name; ok is false if no entry has it.
func Named(entries []Entry, name string) (e Entry, ok bool) {
	return lists.First(entries, func(e Entry) bool { return e.Name == name })
}

// TreeObject returns the tree with the entries.
func TreeObject(entries []Entry) Object {
	var b bytes.Buffer
	for _, e := range entries {
		b.Write(e.raw)
	}
	return Object{plumbing.TreeObject, b.Bytes()}
}

// CompareEntries compares two entries in git's order of a tree: by name, with a slash
// after the name of a tree.
func CompareEntries(a, b Entry) int { return strings.Compare(a.sortKey(), b.sortKey()) }

func (e Entry) sortKey() string {
	if e.Kind() == repo.Folder {
		return e.Name + "/"
	}
	return e.Name
}
