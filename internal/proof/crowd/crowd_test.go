//go:build aws

package crowd

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

var (
	processes = flag.Int("processes", 8, "how many processes tick, four for each site; 32 is the whole test")
	crossings = flag.Int("crossings", 80, "how many crossings are to land, ten of each workload; 2000 is the whole test")
	rivals    = flag.Int("rivals", 20, "how many commits people push meanwhile; 500 is the whole test")
)

const (
	perSite    = 4
	policyFile = "gitlatch.yaml"
	latching   = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5, hold: {up: 1}}]\n"
	// patience is the maximum time without progress.
	patience = 2 * time.Minute
)

// levels are the successive desired replicas of each workload.
var levels = []int32{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

// A crowd contains the processes and their shared parts.
type crowd struct {
	t      *testing.T
	origin *gitserver.Origin
	job    job
	sites  []string
	needs  map[string][]int32

	mu     sync.Mutex
	events []event
	alive  []*process
	kills  int
}

// A process runs ticks; heard is closed after its last output was read.
type process struct {
	*exec.Cmd
	heard chan struct{}
}

// Many processes lose no commit of another, and each level change lands once.
func TestManyProcessesShareABranch(t *testing.T) {
	t.Parallel()
	tables := dynalite.Start(t)
	server := gitserver.Start(t)
	c := &crowd{
		t: t, origin: server.Create(t, "shared", map[string]string{policyFile: latching}), needs: map[string][]int32{},
		job: job{Git: server.URL("shared"), Dynamo: tables.URL, Table: tables.Table(t, "pk", "sk"), Cluster: filepath.Join(t.TempDir(), "cluster.json"), Began: time.Now()},
	}
	c.origin.Config(t, "receive.autogc", "false")
	for i := range max(1, *processes/perSite) {
		c.sites = append(c.sites, fmt.Sprint("site-", i))
	}
	for i := range *crossings / len(levels) {
		site := c.sites[i%len(c.sites)]
		c.needs[site] = append(c.needs[site], levels[0])
	}
	c.tell()
	for i := range *processes {
		c.alive = append(c.alive, c.start(i))
	}
	people := newPerson(t, c.origin)
	c.rise(people)
	for _, p := range c.alive {
		c.end(p)
	}
	c.fences()
	c.landed()
	people.stand(t)
	c.origin.Check(t)
	t.Logf("%d crossings in %d commits among %d of people, %d processes killed", *crossings, len(c.origin.Log(t, "main"))-1-len(people.made), len(people.made), c.kills)
}

// rise raises the desired replicas of workloads once their present ones have landed. At
// the same time users push and processes die. It ends when every level has landed.
func (c *crowd) rise(people *person) {
	random := rand.New(rand.NewPCG(1, 2))
	died, moved, before := time.Now(), time.Now(), -1
	for {
		landed, total := 0, 0
		for site, declared := range c.declared() {
			for i, need := range c.needs[site] {
				at := slices.Index(levels, declared[i])
				landed, total = landed+at+1, total+len(levels)
				if declared[i] == need && at < len(levels)-1 && random.IntN(3) == 0 {
					c.needs[site][i] = levels[at+1]
				}
			}
		}
		if c.tell(); landed == total && len(people.made) == *rivals {
			return
		}
		for n := len(people.made); n < *rivals*landed/total; n++ {
			people.push(c.t)
		}
		if landed > before {
			moved, before = time.Now(), landed
		}
		if time.Since(moved) > patience {
			people.stand(c.t)
			c.t.Fatalf("%d of %d crossings have landed, and none for %s; the processes say %v", landed, total, patience, c.said())
		}
		if time.Since(died) > 3*time.Second {
			i := random.IntN(len(c.alive))
			c.end(c.alive[i])
			c.alive[i] = c.start(i)
			died, c.kills = time.Now(), c.kills+1
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// tell writes the present desired replicas to the clusters' files.
func (c *crowd) tell() {
	text, err := json.Marshal(c.needs)
	must(c.t, err)
	must(c.t, os.WriteFile(c.job.Cluster+".new", text, 0o644))
	must(c.t, os.Rename(c.job.Cluster+".new", c.job.Cluster))
}

// start starts process i.
func (c *crowd) start(i int) *process {
	j := c.job
	j.Site, j.Owner = c.sites[i%len(c.sites)], fmt.Sprintf("process-%d-%d", i, c.kills)
	text, err := json.Marshal(j)
	must(c.t, err)
	program, err := os.Executable()
	must(c.t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), jobKey+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(c.t, err)
	must(c.t, cmd.Start())
	p := &process{cmd, make(chan struct{})}
	c.t.Cleanup(func() { c.end(p) })
	go func() {
		defer close(p.heard)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil { // the last may be cut short by its death
				c.mu.Lock()
				c.events = append(c.events, e)
				c.mu.Unlock()
			}
		}
	}()
	return p
}

// end kills a process.
func (c *crowd) end(p *process) {
	if p.ProcessState == nil {
		_ = p.Process.Kill() // it may have ended already
		<-p.heard
		_ = p.Wait() // the error reports the kill
	}
}

// said returns the latest errors of the processes.
func (c *crowd) said() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.Site == "" {
			all = append(all, e.What)
		}
	}
	return all[max(0, len(all)-5):]
}

var stated = regexp.MustCompile(`(?m)^([-+ ]) +deployment\.app-([0-9]+): "([0-9]+)"$`)

// declared returns the level of each workload of each site in git; 0 before the first.
func (c *crowd) declared() map[string][]int32 {
	all := map[string][]int32{}
	tree := c.origin.Tree(c.t, "main")
	for _, site := range c.sites {
		all[site] = make([]int32, len(c.needs[site]))
		path := checkpoint.RecordPath(site, "shop")
		if tree[path] == "" {
			continue
		}
		for _, m := range stated.FindAllStringSubmatch(c.origin.Show(c.t, "main", path), -1) {
			all[site][number(c.t, m[2])] = number(c.t, m[3])
		}
	}
	return all
}

// fences checks that no process saved under a lease after another had acquired it.
func (c *crowd) fences() {
	c.mu.Lock()
	defer c.mu.Unlock()
	saves := 0
	for _, s := range c.events {
		if s.What != "saved" {
			continue
		}
		saves++
		for _, a := range c.events {
			if a.What == "acquired" && a.Site == s.Site && a.Fence > s.Fence && a.To.Before(s.From) {
				c.t.Errorf("site %s was saved under fence %d at %s, and %d had been taken at %s", s.Site, s.Fence, s.From, a.Fence, a.To)
			}
		}
	}
	if saves == 0 {
		c.t.Error("nobody saved anything")
	}
}

// landed: each workload passed each level once, in order, by commits of gitlatch.
func (c *crowd) landed() {
	passed := map[string][]int32{}
	for _, site := range c.sites {
		patch := c.origin.Git(c.t, "log", "main", "--reverse", "--format=%H", "--unified=0", "--patch", "--", checkpoint.RecordPath(site, "shop"))
		for _, m := range stated.FindAllStringSubmatch(patch, -1) {
			if key := site + "/" + m[2]; m[1] == "+" {
				passed[key] = append(passed[key], number(c.t, m[3]))
			}
		}
		for i := range c.needs[site] {
			if got := passed[fmt.Sprint(site, "/", i)]; !slices.Equal(got, levels) {
				c.t.Errorf("%s, %s: landed were %v, want %v", site, id(i), got, levels)
			}
		}
	}
}

func number(t *testing.T, text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	must(t, err)
	return int32(n)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
