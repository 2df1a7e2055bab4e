package gitserver

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Epoch is the time of an origin's first commit; each further one is a minute
// later.
var Epoch = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)

// Removed is the content of a file that a change removes.
const Removed = "\x00removed"

// An Origin is a bare repository on disk that a test changes with git itself, like a
// user with a clone. Its methods fail the test if git fails. They may be called from
// many goroutines.
type Origin struct {
	Dir string

	mu      sync.Mutex
	commits int
}

// NewOrigin makes a bare repository at dir, with an initial commit of files on
// the branch main. Nil files make a repository without a branch.
func NewOrigin(t testing.TB, dir string, files map[string]string) *Origin {
	t.Helper()
	o := &Origin{Dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Git(t, "init", "--quiet", "--bare", "--initial-branch=main", "--template=") // without the sample hooks
	if files != nil {
		o.Push(t, "main", files, "begin")
	}
	return o
}

// Push commits files, by path, onto a branch like a rival's push during a tick, and
// returns the commit. If the branch does not exist, Push creates it with this commit.
func (o *Origin) Push(t testing.TB, branch string, files map[string]string, message string) string {
	t.Helper()
	var entries []Entry
	for _, path := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, Entry{Path: path, Content: files[path]})
	}
	return o.Commit(t, Change{Branch: branch, Entries: entries, Message: message})
}

// ForcePush moves a branch to any commit, or removes it where the commit is "".
func (o *Origin) ForcePush(t testing.TB, branch, commit string) {
	t.Helper()
	if commit == "" {
		o.Git(t, "update-ref", "-d", "refs/heads/"+branch)
		return
	}
	o.Git(t, "update-ref", "refs/heads/"+branch, commit)
}

// A Change is a commit that Push cannot make.
type Change struct {
	Branch  string
	Entries []Entry
	Message string
	Merge   []string // further parents
}

// An Entry is one path of a commit.
type Entry struct {
	Path    string
	Mode    string // "100644" where empty; "100755", "120000", or "160000", which takes a commit as content
	Content string
	ID      string // of a blob or tree that is there already, in place of the content
}

// Commit makes one commit and returns its id.
func (o *Origin) Commit(t testing.TB, c Change) string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	ref := "refs/heads/" + c.Branch
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter A Person <person@example.com> %d +0000\n", ref, o.next().Unix())
	fmt.Fprintf(&in, "data %d\n%s\n", len(c.Message), c.Message)
	if parent := o.tip(c.Branch); parent != "" {
		fmt.Fprintf(&in, "from %s\n", parent)
	}
	for _, merged := range c.Merge {
		fmt.Fprintf(&in, "merge %s\n", merged)
	}
	for _, e := range c.Entries {
		switch mode := cmp.Or(e.Mode, "100644"); {
		case e.Content == Removed:
			fmt.Fprintf(&in, "D %s\n", e.Path)
		case e.ID != "":
			fmt.Fprintf(&in, "M %s %s %s\n", mode, e.ID, e.Path)
		case mode == "160000":
			fmt.Fprintf(&in, "M %s %s %s\n", mode, e.Content, e.Path)
		default:
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, e.Path, len(e.Content), e.Content)
		}
	}
	run(t, o.Dir, in.Bytes(), "fast-import", "--quiet", "--date-format=raw-permissive")
	return o.tip(c.Branch)
}

// Merge merges one branch into another like a user on a host: with squash as a single
// commit, otherwise as a commit with both parents. It returns the commit, and fails the
// test on a conflict.
func (o *Origin) Merge(t testing.TB, from, into string, squash bool, message string) string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	old, head := o.tip(into), o.tip(from)
	out := func(args ...string) string {
		return strings.TrimSpace(string(run(t, o.Dir, nil, args...)))
	}
	args := []string{"commit-tree", "-m", message, "-p", old}
	if !squash {
		args = append(args, "-p", head)
	}
	id := out(append(args, out("merge-tree", "--write-tree", old, head))...)
	run(t, o.Dir, nil, "update-ref", "refs/heads/"+into, id, old)
	return id
}

func (o *Origin) next() time.Time {
	o.commits++
	return Epoch.Add(time.Duration(o.commits-1) * time.Minute)
}

// Tip returns the commit at a branch, or "" if the branch does not exist.
func (o *Origin) Tip(branch string) string { return o.tip(branch) }

// tip reads the file of the branch, which git replaces by a rename. Nearly half of the git
// processes of all tests would only read a tip. git itself finds a branch without this file: it
// is packed, absent, or in a clone with a work tree.
func (o *Origin) tip(branch string) string {
	loose, err := os.ReadFile(filepath.Join(o.Dir, "refs", "heads", filepath.FromSlash(branch)))
	if err == nil {
		return strings.TrimSpace(string(loose))
	}
	out, err := command(o.Dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Log returns the subjects of a branch's commits, the newest first.
func (o *Origin) Log(t testing.TB, branch string) []string {
	t.Helper()
	return lines(o.Git(t, "log", "--format=%s", "refs/heads/"+branch))
}

// Show returns the content of a file at a ref or commit, and fails the test if the file
// does not exist.
func (o *Origin) Show(t testing.TB, ref, path string) string {
	t.Helper()
	return string(run(t, o.Dir, nil, "cat-file", "blob", ref+":"+path))
}

// Files returns the content of each file of a ref or commit, by path.
func (o *Origin) Files(t testing.TB, ref string) map[string]string {
	t.Helper()
	held := o.Tree(t, ref)
	var asked bytes.Buffer
	paths := slices.Sorted(maps.Keys(held))
	for _, path := range paths {
		_, id, _ := strings.Cut(held[path], " ")
		fmt.Fprintln(&asked, id)
	}
	rest := run(t, o.Dir, asked.Bytes(), "cat-file", "--batch")
	files := map[string]string{}
	for _, path := range paths {
		var id, kind string
		var size int
		head, body, _ := bytes.Cut(rest, []byte("\n"))
		if _, err := fmt.Sscan(string(head), &id, &kind, &size); err != nil {
			t.Fatalf("git cat-file --batch: %q: %v", head, err)
		}
		files[path] = string(body[:size])
		rest = body[size+1:]
	}
	return files
}

// Raw returns an object as git stores it, unpacked.
func (o *Origin) Raw(t testing.TB, kind, name string) []byte {
	t.Helper()
	return run(t, o.Dir, nil, "cat-file", kind, name)
}

// Tree returns the files of a ref or commit: for each path its mode, a space and its
// object id.
func (o *Origin) Tree(t testing.TB, ref string) map[string]string {
	t.Helper()
	held := map[string]string{}
	for _, line := range strings.Split(o.Git(t, "ls-tree", "-r", "-z", ref), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			field := strings.Fields(meta)
			held[path] = field[0] + " " + field[2]
		}
	}
	return held
}

// Check fails the test where git finds a fault in any object.
func (o *Origin) Check(t testing.TB) {
	t.Helper()
	o.Git(t, "fsck", "--strict", "--no-dangling")
}

// Config sets a variable of the repository's configuration.
func (o *Origin) Config(t testing.TB, key, value string) {
	t.Helper()
	o.Git(t, "config", key, value)
}

// Decline makes the repository decline each push from now on by a pre-receive
// hook that prints words; "" takes pushes again.
func (o *Origin) Decline(t testing.TB, words string) {
	t.Helper()
	if words == "" {
		if err := os.Remove(o.hook()); err != nil {
			t.Fatal(err)
		}
		return
	}
	o.receive(t, "cat <<'WORDS' >&2\n"+words+"\nWORDS\nexit 1\n")
}

// RequireSignatures makes the repository decline pushes with a commit that git does not
// verify as signed by one of the SSH keys, each in the form "ssh-ed25519 AAAA...".
func (o *Origin) RequireSignatures(t testing.TB, keys ...string) {
	t.Helper()
	signers := ""
	for _, key := range keys {
		signers += "gitlatch@users.noreply.github.com " + strings.TrimSpace(key) + "\n"
	}
	if err := os.WriteFile(o.Signers(), []byte(signers), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Config(t, "gpg.ssh.allowedSignersFile", o.Signers())
	o.receive(t, `while read -r old new ref; do
	for commit in $(git rev-list "$new" --not --all); do
		git verify-commit "$commit" || { echo "commit $commit is not signed by an allowed key" >&2; exit 1; }
	done
done
`)
}

// RequireSubjects makes the repository decline pushes with a commit whose subject does not
// match an extended regular expression, in the words of a push rule of GitLab.
func (o *Origin) RequireSubjects(t testing.TB, pattern string) {
	t.Helper()
	o.receive(t, `while read -r old new ref; do
	for commit in $(git rev-list "$new" --not --all); do
		git log -1 --format=%s "$commit" | grep -qE '`+pattern+`' || { echo "GitLab: Commit message does not follow the pattern '`+pattern+`'" >&2; exit 1; }
	done
done
`)
}

// Signers is the file of the keys of RequireSignatures, in the form for git.
func (o *Origin) Signers() string { return filepath.Join(o.Dir, "allowed_signers") }

func (o *Origin) hook() string { return filepath.Join(o.Dir, "hooks", "pre-receive") }

// receive makes a script of the shell the hook for pushes.
func (o *Origin) receive(t testing.TB, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(o.hook()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.hook(), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Git runs git in the repository and returns its output, without the last newline.
func (o *Origin) Git(t testing.TB, args ...string) string {
	t.Helper()
	return strings.TrimSuffix(string(run(t, o.Dir, nil, args...)), "\n")
}

// GitInput is Git with a standard input.
func (o *Origin) GitInput(t testing.TB, input string, args ...string) string {
	t.Helper()
	return strings.TrimSuffix(string(run(t, o.Dir, []byte(input), args...)), "\n")
}

func run(t testing.TB, dir string, input []byte, args ...string) []byte {
	t.Helper()
	cmd := command(dir, args...)
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = Environ()
	return cmd
}

// Environ returns an environment for git without the configuration of the machine or
// the user.
func Environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=/nonexistent",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=A Person",
		"GIT_AUTHOR_EMAIL=person@example.com",
		"GIT_AUTHOR_DATE=2026-11-02T08:00:00Z",
		"GIT_COMMITTER_NAME=A Person",
		"GIT_COMMITTER_EMAIL=person@example.com",
		"GIT_COMMITTER_DATE=2026-11-02T08:00:00Z",
		"LC_ALL=C",
		"TZ=UTC",
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
