// Command bench-crossing does the git work of a level change like a tick in a new
// process. It reads the tip, the commits since the agreed one and the checkpoint files
// of a site, and pushes one commit. SITES is the tree of the sites in the state of an
// earlier tick, in hexadecimal. It is a program, so its start counts like the start of
// the programs that it is compared with.
package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 6 {
		log.Fatal("usage: bench-crossing URL AGREED SITES PATH CONTENT")
	}
	sites, err := hex.DecodeString(os.Args[3])
	if err == nil {
		err = cross(context.Background(), os.Args[1], os.Args[2], sites, os.Args[4], os.Args[5])
	}
	if err != nil {
		log.Fatal("bench-crossing: ", err)
	}
}

func cross(ctx context.Context, url, agreed string, sites []byte, path, content string) error {
	r, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main"})
	if err != nil {
		return err
	}
	r.Recall(sites)
	tip, _, err := r.Heads(ctx)
	if err != nil {
		return err
	}
	window, err := r.Between(ctx, agreed, tip)
	if err != nil {
		return err
	}
	site := repo.Within("checkpoints/prod", "site.yaml", "*.levels.yaml")
	found, err := r.Read(ctx, tip, nil, site)
	if err != nil {
		return err
	}
	if !window.Descends || len(window.Commits) == 0 || len(found[site].Files) == 0 {
		return fmt.Errorf("a window of %d commits, %d checkpoints: nothing was measured", len(window.Commits), len(found[site].Files))
	}
	// A commit is younger than its parent, even in a test: with a clock that goes back
	// and forth, the next window costs the server a walk through the full history.
	when := window.Commits[0].When.Add(time.Second)
	_, err = r.Commit(ctx, repo.Commit{Parent: tip, Files: map[string][]byte{path: []byte(content)}, Message: "latch(prod): one level\n", When: when})
	return err
}
