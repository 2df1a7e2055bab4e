// Command bench-gogit writes a file of a repository as go-git's own documentation does
// it: a clone in memory, a worktree, a commit and a push. It is what gitlatch would be
// without its own way to git, and a module of its own, since gitlatch needs none of what
// go-git needs for this.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/util"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: bench-gogit URL PATH CONTENT")
	}
	if err := push(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal("bench-gogit: ", err)
	}
}

func push(url, path, content string) error {
	files := memfs.New()
	repository, err := git.Clone(memory.NewStorage(), files, &git.CloneOptions{URL: url})
	if err != nil {
		return fmt.Errorf("clone %s: %w", url, err)
	}
	tree, err := repository.Worktree()
	if err != nil {
		return err
	}
	if err := util.WriteFile(files, path, []byte(content), 0o644); err != nil {
		return err
	}
	if _, err := tree.Add(path); err != nil {
		return fmt.Errorf("add %s: %w", path, err)
	}
	author := &object.Signature{Name: "A Person", Email: "person@example.com", When: time.Now()}
	if _, err := tree.Commit("level", &git.CommitOptions{Author: author}); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return repository.Push(&git.PushOptions{})
}
