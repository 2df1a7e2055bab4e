package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

var (
	shop    = checkpoint.RecordPath("prod-eu", "shop")
	siteDir = checkpoint.Directory("prod-eu")
)

// grown returns a settled world with a raise to publish after two ticks.
func grown(t *testing.T) *world {
	w := settled(t)
	for _, id := range []string{"shop/deployment/web", "pay/statefulset/ledger"} {
		p := w.api.workloads[id]
		p.desired, p.ready = 2*p.desired+1, 2*p.desired+1
	}
	return w
}

// TestNothingIsDoneWhereNothingCanBe covers the problems that stop a tick. The message
// has the problem and its solution, and the branch and the state are unchanged.
func TestNothingIsDoneWhereNothingCanBe(t *testing.T) {
	t.Parallel()
	all := []string{"kube-system", "deployments", "statefulsets", "daemonsets", "horizontalpodautoscalers"}
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, *world)
		want  []string
	}{
		{"the API server is not there", func(t *testing.T, w *world) { w.kubeconfig(t, "http://127.0.0.1:1", "token: cluster-secret") },
			[]string{"reach the API server at http://127.0.0.1:1", "connection refused", "hint: ", "--context"}},
		{"the API server does not know us", func(_ *testing.T, w *world) {
			for _, resource := range all {
				w.api.refuse[resource] = http.StatusUnauthorized
			}
		}, []string{"log in to the API server at http://127.0.0.1:", "unauthorized", "hint: log in again"}},
		{"the API server knows us no more in the middle", func(_ *testing.T, w *world) { w.api.refuse["daemonsets"] = http.StatusUnauthorized },
			[]string{"log in to the API server at http://127.0.0.1:", "hint: log in again"}},
		{"a kubeconfig that is not there", func(t *testing.T, w *world) { remove(t, w.path("kubeconfig")) },
			[]string{"/kubeconfig: no such file or directory\n", "hint: choose a cluster with --kubeconfig and --context, or with cluster.kubeconfig and cluster.context in the configuration"}},
		{"a kubeconfig that is none", func(t *testing.T, w *world) { w.write(t, "kubeconfig", "{") }, []string{"/kubeconfig: "}},

		{"a context that is not there", func(t *testing.T, w *world) {
			w.write(t, "config.yaml", strings.Replace(fmt.Sprintf(configure, w.path("kubeconfig"), w.path("state/latch.db"), w.origin.Dir), "cluster: {", "cluster: {context: green, ", 1))
		}, []string{`/kubeconfig: no context "green"; there are: `, "cluster.context in the configuration"}},
		{"a state in a folder that cannot be made", func(t *testing.T, w *world) {
			w.write(t, "config.yaml", fmt.Sprintf(configure, w.path("kubeconfig"), w.path("kubeconfig/latch.db"), w.origin.Dir))
		}, []string{"state.bolt: ", "not a directory. Set state.bolt in the configuration to a path that this user can write to"}},

		{"a repository that is not there", func(t *testing.T, w *world) { w.configure(t, w.path("nowhere.git")) },
			[]string{"nowhere.git", "this path does not exist"}},
		{"a server that is not there", func(t *testing.T, w *world) { w.configure(t, "http://127.0.0.1:1/site.git") },
			[]string{"http://127.0.0.1:1/site.git", "connection refused", "hint: check the address of the host in the configuration"}},
		{"a path without a repository", func(t *testing.T, w *world) { w.configure(t, w.dir) },
			[]string{"this path contains no git repository", "git init"}},
		{"a branch that is not there", func(t *testing.T, w *world) {
			w.origin.Push(t, "dev", map[string]string{"a": "1"}, "dev")
			w.origin.Push(t, "team/next", map[string]string{"a": "1"}, "next")
			w.origin.ForcePush(t, "main", "")
		}, []string{"site.git", `branch "main": branch does not exist. Existing branches: dev, team/next`, "hint: push a commit to the branch", "repository.branch"}},
		{"a repository without a commit", func(t *testing.T, w *world) { w.origin.ForcePush(t, "main", "") },
			[]string{"site.git", `branch "main": branch does not exist. The repository is empty`, "hint: push a commit to the branch"}},
		{"a repository of SHA-256 ids", func(t *testing.T, w *world) {
			w.origin.Git(t, "init", "--quiet", "--bare", "--object-format=sha256", w.path("long.git"))
			w.configure(t, w.path("long.git"))
		}, []string{"long.git", "SHA-256", "only SHA-1 is supported"}},
		{"the site's folder is a symlink", func(t *testing.T, w *world) { w.link(t, siteDir, "../apps") },
			[]string{siteDir + " is a symlink", "hint: commit a regular file or folder"}},
		{"checkpoints is a symlink", func(t *testing.T, w *world) { w.link(t, "checkpoints", "apps") },
			[]string{"checkpoints is a symlink"}},

		{"a configuration that is not there", func(t *testing.T, w *world) { remove(t, w.path("config.yaml")) },
			[]string{"--config: ", "/config.yaml: no such file or directory. Give the path of an existing file"}},
		{"a configuration with much wrong", func(t *testing.T, w *world) {
			w.write(t, "config.yaml", strings.NewReplacer("site: prod-eu", "site: Prod EU", "bolt:", "blot:").Replace(fmt.Sprintf(configure, "kubeconfig", "state.db", "site.git")))
		}, []string{"config.yaml:3: site: must be a DNS label", "config.yaml:5: state.blot: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := grown(t)
			state := w.state(t)
			c.spoil(t, w)
			tip := w.origin.Tip("main")
			for range 2 {
				w.fails(t, w.tick(), c.want...)
			}
			if w.origin.Tip("main") != tip {
				t.Error("the branch moved")
			}
			if got := w.state(t); got != state {
				t.Errorf("the state is now\n%s\nand was\n%s", got, state)
			}
		})
	}
}

// TestTheRestGoesOn covers problems of a part of the site. That part keeps its levels,
// and the other parts are updated.
func TestTheRestGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, *world)
		want  []string // in the error
		shown []string // in the table
		made  string   // the commit of the second tick, "" for none
		facts []string // in the checkpoint files afterwards
	}{
		{"a kind is forbidden", func(_ *testing.T, w *world) { w.api.refuse["statefulsets"] = http.StatusForbidden },
			[]string{"not read: statefulsets: forbidden: ", "hint: gitlatch lowers no level while a part cannot be listed", "infra/rbac"},
			[]string{"no level is lowered (partial): a part of the cluster could not be listed\n"},
			"latch(prod-eu): shop/web 100 -> 200", []string{`statefulset.ledger: "5"`, `deployment.web: "200"`, `deployment.cart: "20"`}},
		{"autoscalers are forbidden", func(_ *testing.T, w *world) { w.api.refuse["horizontalpodautoscalers"] = http.StatusForbidden },
			[]string{"not read: horizontalpodautoscalers: forbidden: "},
			[]string{"its scale is unknown: horizontalpodautoscalers could not be listed"},
			"", []string{`statefulset.ledger: "5"`, `deployment.web: "100"`, `deployment.cart: "20"`}},
		{"everything is forbidden", func(_ *testing.T, w *world) {
			for _, resource := range []string{"kube-system", "deployments", "statefulsets", "daemonsets", "horizontalpodautoscalers"} {
				w.api.refuse[resource] = http.StatusForbidden
			}
		}, []string{"not read: namespace kube-system: ", "not read: deployments: ", "not read: statefulsets: ", "not read: daemonsets: ", "not read: horizontalpodautoscalers: "},
			[]string{"not in the sample; an absence counts only while the sample is complete and no guard stops lowering"},
			"", []string{`statefulset.ledger: "5"`, `deployment.web: "100"`, `deployment.cart: "20"`}},
		{"the API server stumbles", func(_ *testing.T, w *world) { w.api.refuse["deployments"] = http.StatusInternalServerError },
			[]string{"not read: deployments: internal server error: "}, []string{"(partial)"},
			"latch(prod-eu): pay/ledger 5 -> 9", []string{`statefulset.ledger: "9"`, `deployment.web: "100"`}},
		{"a record edited into nonsense", func(t *testing.T, w *world) { w.replace(t, shop, `deployment.web: "100"`, `deployment.web: "lots"`) },
			[]string{shop + `:34: data["deployment.web"]: must be an integer from 1 to 999999, got "lots"`, "correct " + shop + " on the branch; until then gitlatch uses the last version that it accepted"},
			[]string{"shop/web                175       100     freeze", "the checkpoint file of its namespace is broken"},
			"latch(prod-eu): pay/ledger 5 -> 9", []string{`statefulset.ledger: "9"`, `deployment.web: "lots"`}},
		{"a record with a conflict in it", func(t *testing.T, w *world) { w.replace(t, shop, "\ndata:\n", "\n<<<<<<< HEAD\ndata:\n=======\n") },
			[]string{shop + ":27: is not YAML: ", "correct " + shop + " on the branch"}, nil,
			"latch(prod-eu): pay/ledger 5 -> 9", []string{"<<<<<<< HEAD"}},
		{"a record that is a symlink", func(t *testing.T, w *world) { w.link(t, shop, "../../../apps/web.yaml") },
			[]string{shop + " is a symlink", "hint: commit a regular file", "correct " + shop + " on the branch"}, nil,
			"latch(prod-eu): pay/ledger 5 -> 9", []string{`statefulset.ledger: "9"`}},
		{"the site file is a symlink", func(t *testing.T, w *world) { w.link(t, checkpoint.SitePath("prod-eu"), "../../apps/web.yaml") },
			[]string{checkpoint.SitePath("prod-eu") + " is a symlink", "writes nothing for the site"}, []string{"no commit: 2 level changes could not be committed"},
			"", []string{`deployment.web: "100"`}},
		{"a site file that is none", func(t *testing.T, w *world) {
			w.origin.Push(t, "main", map[string]string{checkpoint.SitePath("prod-eu"): "moved"}, "by hand")
		}, []string{checkpoint.SitePath("prod-eu") + ":1: must be a mapping", "correct " + checkpoint.SitePath("prod-eu") + " on the branch"}, nil,
			"", []string{`deployment.web: "100"`}},
		{"a site file of another site", func(t *testing.T, w *world) {
			w.replace(t, checkpoint.SitePath("prod-eu"), `name: "prod-eu"`, `name: "prod-us"`)
		}, []string{checkpoint.SitePath("prod-eu"), "must be prod-eu", "prod-us"}, nil, "", []string{`deployment.web: "100"`}},
		{"a site file of a newer format", func(t *testing.T, w *world) {
			w.replace(t, checkpoint.SitePath("prod-eu"), `version: "1"`, `version: "7"`)
		}, []string{checkpoint.SitePath("prod-eu"), "Update gitlatch"}, nil, "", []string{`deployment.web: "100"`}},
		{"a policy edited into nonsense", func(t *testing.T, w *world) { w.replace(t, "gitlatch.yaml", "mode: latch", "mode: latchh") },
			[]string{"gitlatch.yaml:3: mode: must be one of observe, latch", "until then gitlatch uses the last version that it accepted"}, nil,
			"latch(prod-eu): shop/web 100 -> 200, +1 more", []string{`deployment.web: "200"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := grown(t)
			c.spoil(t, w)
			tip := w.origin.Tip("main")
			want := w.origin.Log(t, "main")
			if c.made != "" {
				want = slices.Insert(want, 0, c.made)
			}
			w.fails(t, w.tick(), c.want...)
			second := w.tick()
			w.fails(t, second, c.want...)
			for _, want := range c.shown {
				if !strings.Contains(second.out, want) {
					t.Errorf("does not show %q:\n%s", want, second.out)
				}
			}
			log := slices.DeleteFunc(w.origin.Log(t, "main"), func(subject string) bool { return subject == "latch(prod-eu): update the list of checkpoint files" })
			if !slices.Equal(log, want) || c.made == "" && w.origin.Tip("main") != tip {
				t.Errorf("got the commits %q, want %q", log, want)
			}
			records := ""
			for path := range w.origin.Tree(t, "main") {
				if strings.HasSuffix(path, ".levels.yaml") {
					records += w.origin.Show(t, "main", path)
				}
			}
			for _, fact := range c.facts {
				if !strings.Contains(records, fact) {
					t.Errorf("git does not say %s:\n%s", fact, records)
				}
			}
		})
	}
}

// The output names each part that could not be listed once in full, on a separate line,
// even if the server's message is long.
func TestWhatIsUnreadIsSaidInFullOnce(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.api.refuse["statefulsets"], w.api.refuse["daemonsets"] = http.StatusForbidden, http.StatusForbidden
	got := w.tick()
	for _, part := range []string{"statefulsets", "daemonsets"} {
		if n := strings.Count(got.out+got.err, "403 for "+part); n != 1 {
			t.Errorf("%s: said %d times:\n%s%s", part, n, got.out, got.err)
		}
		if !strings.Contains(got.err, "not read: "+part+": forbidden: ") || !strings.Contains(got.out, "\nalert: [warning] gitlatch prod-eu: unread "+part+"\n") {
			t.Errorf("%s: not on a line of its own:\n%s%s", part, got.out, got.err)
		}
	}
}

// If a branch refuses pushes, its levels and the latches stay unchanged. The raise is
// committed once the branch accepts a push.
func TestAProtectedBranch(t *testing.T) {
	t.Parallel()
	w := served(t, grown(t))
	w.origin.Decline(t, "main is protected: open a pull request")
	tip, declared := w.origin.Tip("main"), w.declared(t)
	w.tick()
	for range 2 {
		got := w.tick()
		w.fails(t, got, "publish: ", "push was refused: ", "main is protected", "hint: set repository.mode: proposal")
		if !strings.Contains(got.out, "no commit: 2 level changes could not be committed\n") {
			t.Errorf("shows\n%s", got.out)
		}
		if w.origin.Tip("main") != tip || w.declared(t) != declared {
			t.Errorf("tip %s, levels %s", w.origin.Tip("main"), w.declared(t))
		}
	}
	w.origin.Decline(t, "")
	if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "shop/web 100 -> 200, +1 more") {
		t.Errorf("%+v", got)
	}
}

// A host accepts only commits with a pattern in the subject. The error names the field, and
// with the field the level changes land. The next tick knows its commit by the trailers.
func TestAHostThatRequiresAPatternInTheSubject(t *testing.T) {
	t.Parallel()
	w := served(t, grown(t))
	const pattern = `^(build|chore|ci|docs|feat|fix)(\(.+\))?: `
	w.origin.RequireSubjects(t, pattern)
	w.tick()
	got := w.tick()
	w.fails(t, got, "publish: ", "push was refused: ", "GitLab: Commit message does not follow the pattern '"+pattern+"'", "hint: set commit.subject in the policy file (gitlatch.yaml)")
	if strings.Contains(got.err, "identity") {
		t.Errorf("has a remedy for another reason: %s", got.err)
	}
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching + "commit: {subject: \"chore({{.Site}}): {{.Changes}}\"}\n"}, "set a subject")
	if got := w.tick(); got.status != 0 || !strings.Contains(got.out, ": chore(prod-eu): shop/web 100 -> 200, +1 more\n") {
		t.Errorf("with a subject: %+v", got)
	}
	tip := w.origin.Tip("main")
	if got := w.tick(); got.status != 0 || w.origin.Tip("main") != tip || strings.Contains(got.out+got.err, "edit grace period") {
		t.Errorf("after its own commit: %+v", got)
	}
}

// A host refuses commits without a signature, after many lines about its rules. The error
// has the complete text of the host, and names the field for a signing key.
func TestAHostThatRequiresSignatures(t *testing.T) {
	t.Parallel()
	w := served(t, grown(t))
	rules := "error: GH013: Repository rule violations found for refs/heads/main.\nReview all repository rules at https://github.com/team/site/rules?ref=refs%2Fheads%2Fmain\n\n"
	found := "- Commits must have verified signatures.\n  Found 1 violation:\n" + strings.Repeat("\n  9eef7a2fcc46d04a8bbf8d1e1e4c0f6d6c8a1f27", 30)
	w.origin.Decline(t, rules+found)
	w.tick()
	got := w.tick()
	w.fails(t, got, strings.Join(strings.Fields(rules+found), " "), "hint: set commit.signing in the configuration")
	if strings.Contains(got.err, "identity") {
		t.Errorf("has a remedy for another reason: %s", got.err)
	}
}

// served moves the repository of a world to a server.
func served(t *testing.T, w *world) *world {
	t.Helper()
	server := gitserver.Start(t)
	must(t, os.Rename(w.origin.Dir, server.Dir("site")))
	w.origin.Dir = server.Dir("site")
	w.configure(t, server.URL("site"))
	return w
}

// gitlatch does not move the checked-out branch of a working copy.
func TestABranchThatIsCheckedOut(t *testing.T) {
	t.Parallel()
	w := grown(t)
	must(t, os.Rename(w.origin.Dir, w.path("bare")))
	must(t, os.Mkdir(w.origin.Dir, 0o755))
	must(t, os.Rename(w.path("bare"), filepath.Join(w.origin.Dir, ".git")))
	w.origin.Config(t, "core.bare", "false")
	tip := w.origin.Tip("main")
	w.tick()
	got := w.tick()
	w.fails(t, got, `branch "main" is checked out in `+w.origin.Dir, "hint: set repository.branch to another branch, or repository.url to a bare repository")
	if strings.Contains(got.err, "identity") {
		t.Errorf("a folder has no identity to push with: %s", got.err)
	}
	if w.origin.Tip("main") != tip {
		t.Error("the branch moved")
	}
}

// A state file that cannot be read stops the tick before it does anything. After a user
// moves the file away, the tick rebuilds the state from git.
func TestACorruptStateFile(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]byte) []byte{
		"not ours":    func([]byte) []byte { return []byte(strings.Repeat("not a database\n", 1000)) },
		"cut short":   func(b []byte) []byte { return b[:4096+100] },
		"overwritten": func(b []byte) []byte { copy(b[:2*4096], make([]byte, 2*4096)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := grown(t)
			declared, file := w.declared(t), w.path("state/latch.db")
			content, err := os.ReadFile(file)
			must(t, err)
			w.write(t, "state/latch.db", string(spoil(content)))
			before := w.hash(t)
			for _, args := range [][]string{{"tick"}, {"tick", "--dry-run"}, {"explain", "shop/web"}, {"adopt"}, {"pause", "--until", "3h"}} {
				w.fails(t, w.run(args...), file, "the state cannot be read", "Move it away, and run the command again", "reads the levels from git")
			}
			if w.hash(t) != before {
				t.Error("something was written")
			}

			must(t, os.Rename(file, w.path("spoilt.db")))
			tip := w.origin.Tip("main")
			if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "seeded shop/deployment/web: level 100 read from git") {
				t.Errorf("%+v", got)
			}
			if w.declared(t) != declared || w.origin.Tip("main") != tip {
				t.Errorf("levels are now %s, and were %s", w.declared(t), declared)
			}
			if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "shop/web 100 -> 200") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// fails fails the test unless the command's error contains the words and no secret. The
// exit status must be 1 if the command gave an answer, and 2 otherwise.
func (w *world) fails(t *testing.T, got outcome, words ...string) {
	t.Helper()
	status := 1
	if got.out == "" {
		status = 2
	}
	if got.status != status || !strings.HasPrefix(got.err, "gitlatch: ") || strings.Contains(got.err, "secret") {
		t.Errorf("status %d, out %q, err %q", got.status, got.out, got.err)
	}
	for _, want := range words {
		if !strings.Contains(got.err, want) {
			t.Errorf("does not say %q: %s", want, got.err)
		}
	}
}

// declared returns the levels in the state as text.
func (w *world) declared(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	_, latches := w.load(t)
	for _, l := range latches {
		fmt.Fprintf(&b, "%s %d\n", l.ID, l.Declared.Replicas)
	}
	return b.String()
}

// replace edits a file on the branch, by hand.
func (w *world) replace(t *testing.T, path, old, edited string) {
	t.Helper()
	was := w.origin.Show(t, "main", path)
	if !strings.Contains(was, old) {
		t.Fatalf("%s does not hold %q:\n%s", path, old, was)
	}
	w.origin.Push(t, "main", map[string]string{path: strings.Replace(was, old, edited, 1)}, "by hand")
}

// link replaces a file or folder with a symlink.
func (w *world) link(t *testing.T, path, target string) {
	t.Helper()
	w.origin.Commit(t, gitserver.Change{Branch: "main", Message: "link", Entries: []gitserver.Entry{
		{Path: path, Content: gitserver.Removed}, {Path: path, Mode: "120000", Content: target},
	}})
}

func remove(t *testing.T, path string) {
	t.Helper()
	must(t, os.Remove(path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
