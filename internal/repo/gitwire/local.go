package gitwire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// local is a repository on this machine's disk, read and written in place. It runs no
// hooks, so it does not push to a repository with a hook that can decline.
type local struct {
	path string // as configured
	dir  string // the folder of HEAD and refs
	bare bool
	disk *filesystem.Storage
}

func openLocal(path string) (*local, error) {
	l := &local{path: path, dir: path, bare: true}
	if info, err := os.Stat(filepath.Join(path, ".git")); err == nil {
		if !info.IsDir() {
			return nil, fmt.Errorf("repository %s is a linked worktree. Use the repository that it belongs to", path)
		}
		l.dir, l.bare = filepath.Join(path, ".git"), false
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("repository %q: this path does not exist. Correct the path of the repository", path)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "HEAD")); err != nil {
		return nil, fmt.Errorf("repository %q: this path contains no git repository. Correct the path, or run \"git init\" there", path)
	}
	l.disk = filesystem.NewStorageWithOptions(osfs.New(l.dir), cache.NewObjectLRU(4*cache.MiByte), filesystem.Options{AlternatesFS: osfs.New("/")})
	config, err := l.disk.Config()
	if err != nil {
		return nil, fmt.Errorf("repository %s: read its config: %w", path, err)
	}
	extensions := config.Raw.Section("extensions")
	if format := extensions.Option("objectformat"); format != "" && format != "sha1" {
		return nil, fmt.Errorf("repository %s: %w", path, pack.ErrSHA256)
	}
	if format := extensions.Option("refstorage"); format != "" && format != "files" {
		return nil, fmt.Errorf("repository %s: its refs are stored as %s, only files are supported", path, format)
	}
	return l, nil
}

func (l *local) String() string { return l.path }

func (l *local) Close() error { return l.disk.Close() }

func (l *local) Heads(ctx context.Context, branches []plumbing.ReferenceName) ([]plumbing.Hash, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	heads := make([]plumbing.Hash, len(branches))
	for i, branch := range branches {
		var err error
		if heads[i], err = l.read(branch); err != nil {
			return nil, err
		}
	}
	return heads, nil
}

// read returns the commit of a branch, or zero if the branch does not exist. A loose ref
// takes precedence over a packed ref.
func (l *local) read(branch plumbing.ReferenceName) (tip plumbing.Hash, err error) {
	text, err := os.ReadFile(l.refPath(branch))
	if err == nil {
		id := strings.TrimSpace(string(text))
		if !plumbing.IsHash(id) {
			return tip, fmt.Errorf("branch %q: its ref contains %q, which is not a commit", branch.Short(), sanitize.Line(id))
		}
		return plumbing.NewHash(id), nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !isDirectory(l.refPath(branch)) {
		return tip, err
	}
	packed, err := os.ReadFile(filepath.Join(l.dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tip, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(packed)); lines.Scan(); {
		if id, name, _ := strings.Cut(lines.Text(), " "); name == string(branch) {
			return plumbing.NewHash(id), nil
		}
	}
	return tip, nil
}

// Branches returns the loose and the packed branches, sorted.
func (l *local) Branches(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	refs, err := l.disk.IterReferences()
	if err != nil {
		return nil, err
	}
	var names []string
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() {
			names = append(names, ref.Name().Short())
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (l *local) refPath(branch plumbing.ReferenceName) string {
	return filepath.Join(l.dir, filepath.FromSlash(string(branch)))
}

// Fetch only finds new packs: all objects are on this disk.
func (l *local) Fetch(ctx context.Context, into *pack.Objects, _ plumbing.Hash, _ []plumbing.Hash, _ bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if into.Disk != nil {
		l.disk.Reindex()
	}
	into.Disk = onDisk{l.disk}
	return nil
}

func (l *local) Deepen(ctx context.Context, into *pack.Objects, commit plumbing.Hash, _ int) error {
	return l.Fetch(ctx, into, commit, nil, true)
}

// Between has all commits on disk, unless the repository is a shallow clone.
func (l *local) Between(ctx context.Context, into *pack.Objects, _, commit plumbing.Hash) (whole bool, err error) {
	return false, l.Fetch(ctx, into, commit, nil, true)
}

// Push writes the objects, then moves the ref as git does: it writes a lock file and
// renames it to the ref. Like git, it refuses to move a checked-out branch.
func (l *local) Push(ctx context.Context, branch plumbing.ReferenceName, old plumbing.Hash, made []pack.Object) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if head, err := os.ReadFile(filepath.Join(l.dir, "HEAD")); !l.bare && err == nil &&
		strings.TrimSpace(string(head)) == "ref: "+string(branch) {
		return &wire.Refusal{Words: fmt.Sprintf("branch %q is checked out in %s", branch.Short(), l.path), Final: true}
	}
	if err := l.declines(); err != nil {
		return err
	}
	for _, obj := range made {
		if _, err := l.disk.SetEncodedObject(pack.Encoded(obj)); err != nil {
			return fmt.Errorf("write an object: %w", err)
		}
	}
	path := l.refPath(branch)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	lock, err := takeLock(ctx, path+".lock")
	if err != nil {
		return err
	}
	if err := l.move(lock, branch, old, made[len(made)-1].ID()); err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return nil
}

// lockWait is how long takeLock waits for the lock of another process. It tries 100
// times. Other processes have the lock for a far shorter time.
const lockWait = time.Second

func takeLock(ctx context.Context, path string) (*os.File, error) {
	step := time.NewTicker(lockWait / 100)
	defer step.Stop()
	for range 100 {
		lock, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return lock, err
		}
		select {
		case <-step.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, &wire.Refusal{Words: fmt.Sprintf("the branch is locked by %s", path), Final: true}
}

// move writes the new value to the lock file, and renames the lock file to the ref.
func (l *local) move(lock *os.File, branch plumbing.ReferenceName, old, to plumbing.Hash) error {
	at, err := l.read(branch)
	if err == nil && at != old {
		err = fmt.Errorf("the branch is at %s", at)
	}
	if err == nil {
		_, err = fmt.Fprintln(lock, to)
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return err
	}
	return os.Rename(lock.Name(), l.refPath(branch))
}

// onDisk reads the objects of a repository on disk.
type onDisk struct{ from *filesystem.Storage }

func (d onDisk) Object(id plumbing.Hash) (pack.Object, error) {
	// The size of an object in an alternate repository is unknown before it is read.
	if size, err := d.from.EncodedObjectSize(id); err == nil && size > repo.MostBytes {
		return pack.Object{}, pack.ErrLarge
	}
	stored, err := d.from.EncodedObject(plumbing.AnyObject, id)
	switch {
	case err != nil:
		return pack.Object{}, err
	case stored.Size() > repo.MostBytes:
		return pack.Object{}, pack.ErrLarge
	}
	r, err := stored.Reader()
	if err != nil {
		return pack.Object{}, err
	}
	data, err := io.ReadAll(r)
	return pack.Object{Kind: stored.Type(), Data: data}, errors.Join(err, r.Close())
}

func (d onDisk) Has(id plumbing.Hash) bool { return d.from.HasEncodedObject(id) == nil }
