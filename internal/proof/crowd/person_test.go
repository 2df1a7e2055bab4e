//go:build aws

package crowd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A person has a clone of the repository, and pushes to main like a user.
type person struct {
	clone string
	made  map[string]string // the written file, by commit
}

func newPerson(t *testing.T, o *gitserver.Origin) *person {
	p := &person{clone: filepath.Join(t.TempDir(), "clone"), made: map[string]string{}}
	o.Git(t, "clone", "--quiet", o.Dir, p.clone)
	return p
}

func (p *person) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.clone, gitserver.Environ()
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// push commits a new file, and repeats the push until it wins the race.
func (p *person) push(t *testing.T) {
	file := fmt.Sprintf("apps/%d.txt", len(p.made))
	for try := 0; ; try++ {
		for _, args := range [][]string{{"fetch", "-q", "origin", "main"}, {"reset", "-q", "--hard", "FETCH_HEAD"}} {
			_, err := p.git(args...)
			must(t, err)
		}
		must(t, os.MkdirAll(filepath.Join(p.clone, "apps"), 0o755))
		must(t, os.WriteFile(filepath.Join(p.clone, file), []byte(file), 0o644))
		for _, args := range [][]string{{"add", file}, {"commit", "-q", "-m", "by hand: " + file}} {
			_, err := p.git(args...)
			must(t, err)
		}
		said, err := p.git("push", "-q", "origin", "HEAD:main")
		if err == nil {
			id, err := p.git("rev-parse", "HEAD")
			must(t, err)
			p.made[id] = file
			return
		}
		if try == 30 {
			t.Fatalf("push of a person: %v\n%s", err, said)
		}
	}
}

// stand checks that each commit of a user is on the branch with its file unchanged.
func (p *person) stand(t *testing.T) {
	_, err := p.git("fetch", "-q", "origin", "main")
	must(t, err)
	out, err := p.git("rev-list", "FETCH_HEAD")
	must(t, err)
	all := strings.Fields(out)
	for id, file := range p.made {
		if text, err := p.git("cat-file", "blob", "FETCH_HEAD:"+file); !slices.Contains(all, id) || err != nil || text != file {
			t.Errorf("commit %s of a person, which wrote %s, is not on the branch: %v %s", id, file, err, text)
		}
	}
}
