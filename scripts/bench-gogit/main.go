// Command bench-gogit does the git work of a level change with go-git v5, as its best
// user does it: over go-git's own transport, with a partial-clone filter. It reads the
// tip, the commits since the agreed one with the root tree, and the checkpoint files,
// and pushes one commit by compare-and-swap. gitlatch would be like this without its
// own git client.
//
// It saves the work that it can. It reads the folder of checkpoint files in one
// request, since the repository of the benchmark has one site. It does not request
// receive-pack's advertisement, since the server compares the old head anyway.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"
)

const branch = plumbing.ReferenceName("refs/heads/main")

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: bench-gogit URL AGREED PATH CONTENT")
	}
	if err := change(context.Background(), os.Args[1], plumbing.NewHash(os.Args[2]), os.Args[3], os.Args[4]); err != nil {
		log.Fatal("bench-gogit: ", err)
	}
}

// A session is a connection to one server, and the fetched objects.
type session struct {
	up      transport.UploadPackSession
	can     *capability.List
	objects *memory.Storage
	made    []plumbing.Hash
}

func change(ctx context.Context, url string, agreed plumbing.Hash, path, content string) error {
	at, err := transport.NewEndpoint(url)
	if err != nil {
		return err
	}
	client := githttp.NewClient(http.DefaultClient)
	up, err := client.NewUploadPackSession(at, nil)
	if err != nil {
		return err
	}
	refs, err := up.AdvertisedReferencesContext(ctx)
	if err != nil {
		return fmt.Errorf("list the refs: %w", err)
	}
	tip := refs.References[branch.String()]
	s := &session{up: up, can: refs.Capabilities, objects: memory.NewStorage()}
	if err := s.fetch(ctx, packp.FilterTreeDepth(1), []plumbing.Hash{tip}, agreed); err != nil {
		return fmt.Errorf("fetch the commits: %w", err)
	}
	parent, err := object.GetCommit(s.objects, tip)
	if err != nil {
		return err
	}
	if err := s.descends(parent, agreed); err != nil {
		return err
	}
	root, err := object.GetTree(s.objects, parent.TreeHash)
	if err != nil {
		return err
	}
	folder, _, _ := strings.Cut(path, "/")
	entry, err := root.FindEntry(folder)
	if err != nil {
		return err
	}
	if err := s.fetch(ctx, "", []plumbing.Hash{entry.Hash}); err != nil {
		return fmt.Errorf("fetch the folder: %w", err)
	}
	if err := s.read(entry.Hash); err != nil {
		return err
	}
	tree, err := s.write(parent.TreeHash, strings.Split(path, "/"), content)
	if err != nil {
		return err
	}
	by := object.Signature{Name: "A Person", Email: "person@example.com", When: parent.Author.When.Add(time.Second)}
	commit, err := s.store(&object.Commit{Author: by, Committer: by, Message: "latch(prod): one level\n", TreeHash: tree, ParentHashes: []plumbing.Hash{tip}})
	if err != nil {
		return err
	}
	return s.push(ctx, client, at, tip, commit)
}

// fetch fetches objects by their ids, without the objects that a commit in have
// contains.
func (s *session) fetch(ctx context.Context, filter packp.Filter, wants []plumbing.Hash, have ...plumbing.Hash) error {
	ask := packp.NewUploadPackRequest()
	ask.Wants, ask.Haves, ask.Filter = wants, have, filter
	needed := []capability.Capability{capability.OFSDelta, capability.NoProgress}
	if filter != "" {
		needed = append(needed, capability.Filter)
	}
	for _, c := range needed {
		if !s.can.Supports(c) {
			return fmt.Errorf("the server has no %s", c)
		}
		if err := ask.Capabilities.Set(c); err != nil {
			return err
		}
	}
	answer, err := s.up.UploadPack(ctx, ask)
	if err != nil {
		return err
	}
	err = packfile.UpdateObjectStorage(s.objects, answer)
	return errors.Join(err, answer.Close())
}

// descends returns an error if the fetched commits do not lead from the tip to the agreed
// one.
func (s *session) descends(tip *object.Commit, agreed plumbing.Hash) error {
	for at := tip; ; {
		if len(at.ParentHashes) == 0 {
			return fmt.Errorf("%s does not descend from %s", tip.Hash, agreed)
		}
		if at.ParentHashes[0] == agreed {
			return nil
		}
		next, err := object.GetCommit(s.objects, at.ParentHashes[0])
		if err != nil {
			return err
		}
		at = next
	}
}

// read reads all files below a tree, as gitlatch reads the files of a site.
func (s *session) read(tree plumbing.Hash) error {
	top, err := object.GetTree(s.objects, tree)
	if err != nil {
		return err
	}
	files := 0
	err = top.Files().ForEach(func(f *object.File) error {
		files++
		_, err := f.Contents()
		return err
	})
	if err == nil && files == 0 {
		err = errors.New("the folder is empty: nothing was measured")
	}
	return err
}

// write returns the tree with other content at a path.
func (s *session) write(tree plumbing.Hash, path []string, content string) (plumbing.Hash, error) {
	old, err := object.GetTree(s.objects, tree)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	entries := append([]object.TreeEntry{}, old.Entries...)
	for i, e := range entries {
		switch {
		case e.Name != path[0]:
			continue
		case e.Mode == filemode.Dir:
			entries[i].Hash, err = s.write(e.Hash, path[1:], content)
		default:
			entries[i].Hash, err = s.blob(content)
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
		return s.store(&object.Tree{Entries: entries})
	}
	return plumbing.ZeroHash, fmt.Errorf("%s is not there", path[0])
}

func (s *session) blob(content string) (plumbing.Hash, error) {
	made := s.objects.NewEncodedObject()
	made.SetType(plumbing.BlobObject)
	w, err := made.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	_, err = io.WriteString(w, content)
	return s.add(made, errors.Join(err, w.Close()))
}

func (s *session) store(of interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	made := s.objects.NewEncodedObject()
	return s.add(made, of.Encode(made))
}

func (s *session) add(made plumbing.EncodedObject, err error) (plumbing.Hash, error) {
	if err != nil {
		return plumbing.ZeroHash, err
	}
	s.made = append(s.made, made.Hash())
	return s.objects.SetEncodedObject(made)
}

// push sends the new objects, and moves the branch if it is still at the tip.
func (s *session) push(ctx context.Context, client transport.Transport, at *transport.Endpoint, tip, commit plumbing.Hash) error {
	down, err := client.NewReceivePackSession(at, nil)
	if err != nil {
		return err
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, s.objects, false).Encode(s.made, 0); err != nil {
		return err
	}
	ask := packp.NewReferenceUpdateRequest()
	if err := ask.Capabilities.Set(capability.ReportStatus); err != nil {
		return err
	}
	ask.Commands = []*packp.Command{{Name: branch, Old: tip, New: commit}}
	ask.Packfile = io.NopCloser(&pack)
	report, err := down.ReceivePack(ctx, ask)
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	return report.Error()
}
