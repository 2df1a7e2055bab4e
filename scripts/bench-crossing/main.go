// Command bench-crossing writes a file of a repository as a tick does whose workload
// crosses: it looks where the branch is and what came since it last agreed, reads the
// checkpoints of a site, and pushes. It is a program so that its start counts, as that of
// what it is measured beside.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: bench-crossing URL AGREED PATH CONTENT")
	}
	if err := cross(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal("bench-crossing: ", err)
	}
}

func cross(ctx context.Context, url, agreed, path, content string) error {
	r, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main"})
	if err != nil {
		return err
	}
	tip, _, err := r.Heads(ctx)
	if err != nil {
		return err
	}
	window, err := r.Between(ctx, agreed, tip)
	if err != nil {
		return err
	}
	site := repo.Within("checkpoints/prod", "site.yaml", "*/checkpoint.yaml", "*/kustomization.yaml")
	found, err := r.Read(ctx, tip, nil, site)
	if err != nil {
		return err
	}
	if !window.Descends || len(window.Commits) == 0 || len(found[site].Files) == 0 {
		return fmt.Errorf("a window of %d commits, %d checkpoints: nothing was measured", len(window.Commits), len(found[site].Files))
	}
	_, err = r.Commit(ctx, repo.Commit{Parent: tip, Files: map[string][]byte{path: []byte(content)}, Message: "latch(prod): one level\n", When: time.Now()})
	return err
}
