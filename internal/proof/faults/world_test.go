package faults

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	sites "github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A world is one site and its parts. The parts are opened from a configuration, as the
// function opens them. A table without rows about a part has a fake of it.
type world struct {
	site       string
	kubeconfig string // the path of its kubeconfig
	origin     *gitserver.Origin
	git        *gitserver.Server // nil if git is not on this server
	opener     *sites.Opener
	parts      local.Parts
	open       bool // the parts are open; a failed tick closes them
	runs       int
	now        time.Time
	period     time.Duration

	need        atomic.Int32                                    // desired replicas of the Deployment web in a fake cluster
	grows       func(*testing.T, int32)                         // scales a real cluster; nil if the cluster is a fake
	told        func(*testing.T) []string                       // every message that was sent so far
	held        func(*testing.T) []string                       // everything else that is stored, such as the items of a table
	names       map[string]string                               // names for addresses in errors
	environment map[string]string                               // the environment variables with the secrets of the configuration
	hosted      func() (repo.Repository, repo.Proposals, error) // opens the repository on a host; nil without a host
	fails       func(which string, do fault)                    // puts a fault before a part; see each table

	said strings.Builder // everything that a user could read

	clock sync.Mutex
	left  *remaining // of the present or last tick
}

const policy = `apiVersion: gitlatch.dev/v1alpha1
kind: Policy
mode: latch
policies:
  - {name: own, match: {namespaces: [%s]}, series: 1-2-5, hold: {up: 1}}
  - {name: default, match: {}, scale: ignore, rollout: {mode: ignore}}
`

// newWorld creates a site on a separate git server. document configures the other
// parts, such as "state: {memory: {}}".
func newWorld(t *testing.T, site, document string) *world {
	t.Helper()
	w := &world{site: site, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), names: map[string]string{},
		environment: map[string]string{"GIT_TOKEN": gitToken, "MEASURE_TOKEN": measureToken, "SIGNING_KEY": signingKey()}}
	w.git = gitserver.Start(t)
	w.git.RequireAuth("x-access-token", gitToken)
	w.origin = w.git.Create(t, "site", map[string]string{"gitlatch.yaml": fmt.Sprintf(policy, site), "README": "of people\n"})
	w.names[w.git.URL("site")] = "GIT"
	w.fails = func(_ string, do fault) { w.git.Intercept(gitserver.Interceptor(w.meets(do))) }
	w.reaches(t, "https://127.0.0.1:1", "")
	w.configure(t, fmt.Sprintf("cluster: {kubeconfig: %q}\nrepository: {url: %q, credential: env:GIT_TOKEN}\n", w.kubeconfig, w.git.URL("site"))+document)
	return w
}

// reaches makes the site reach its cluster at an address with the given certificate.
func (w *world) reaches(t *testing.T, server, certificate string) {
	t.Helper()
	if w.kubeconfig == "" {
		w.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	}
	if err := os.WriteFile(w.kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q, certificate-authority-data: %q}}]
users: [{name: test, user: {token: %q}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
`, server, base64.StdEncoding.EncodeToString([]byte(certificate)), kubeToken), 0o600); err != nil {
		t.Fatal(err)
	}
}

// configure writes the configuration of the site.
func (w *world) configure(t *testing.T, document string) {
	t.Helper()
	c, err := config.ParseConfig("config", []byte("apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: "+w.site+
		"\ncommit: {signingKey: env:SIGNING_KEY}\n"+document))
	if err != nil {
		t.Fatal(err)
	}
	w.period = c.Period
	w.opener = &sites.Opener{Config: c, Getenv: func(name string) string { return w.environment[name] }, Clock: func() time.Time { return w.now }}
	t.Cleanup(func() {
		if err := w.parts.Close(); err != nil {
			t.Error(err)
		}
	})
}

// played is a fake cluster with the Deployment web at rest.
type played struct{ *world }

func (p played) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	n := p.need.Load()
	return workload.Fleet{Site: p.site, Cluster: "3d0c", At: p.now, Samples: []workload.Sample{{
		ID:      p.id(),
		Scale:   &workload.Scale{Desired: n, Ready: n, Driver: workload.DrivenByHPA, Min: 1, Max: 200},
		Rollout: &workload.Rollout{},
	}}}, nil
}

func (w *world) id() workload.ID {
	return workload.ID{Namespace: w.site, Kind: workload.Deployment, Name: "web"}
}

// letters is a topic that accepts every alert.
type letters struct{ sent []string }

func (l *letters) Send(_ context.Context, n alert.Notice) error {
	l.sent = append(l.sent, string(n.Document)+n.Text)
	return nil
}

func (w *world) needs(t *testing.T, n int32) {
	w.need.Store(n)
	if w.grows != nil {
		w.grows(t, n)
	}
}

// tick runs one tick, like an invocation of the function, and returns its error. The
// clock then moves one period ahead.
func (w *world) tick(t *testing.T) error {
	t.Helper()
	left := &remaining{Context: t.Context(), over: make(chan struct{})}
	w.clock.Lock()
	w.left = left
	w.clock.Unlock()
	guard := time.AfterFunc(enough, left.end)
	defer guard.Stop()
	err := w.once(left, t)
	if late := left.late(); late > wrapUp {
		t.Errorf("the tick ended %s after its time was over", late)
	}
	w.now = w.now.Add(w.period)
	w.open = err == nil
	if err != nil {
		w.said.WriteString(err.Error())
	}
	return err
}

// remaining is the time of a tick. It ends on a fault's order, so a tick reaches the
// fault on a machine of any speed.
type remaining struct {
	context.Context

	once  sync.Once
	over  chan struct{}
	ended time.Time // set before over is closed
}

func (r *remaining) end() {
	r.once.Do(func() {
		r.ended = time.Now()
		close(r.over)
	})
}

// late returns how long ago the time ended; 0 if it has not.
func (r *remaining) late() time.Duration {
	if r.Err() == nil {
		return 0
	}
	return time.Since(r.ended)
}

// Done returns the channel that is closed when the time ends.
func (r *remaining) Done() <-chan struct{} { return r.over }

// Err returns the error of a deadline once the time has ended.
func (r *remaining) Err() error {
	select {
	case <-r.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

type worldKey struct{}

// meets returns the fault for the requests of this site: timeIsUp finds the site.
func (w *world) meets(do fault) fault {
	if do == nil {
		return nil
	}
	return func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		do(rw, r.WithContext(context.WithValue(r.Context(), worldKey{}, w)), next)
	}
}

// timeIsUp ends the time of the tick that sent the request.
func timeIsUp(r *http.Request) {
	w := r.Context().Value(worldKey{}).(*world)
	w.clock.Lock()
	defer w.clock.Unlock()
	w.left.end()
}

func (w *world) once(ctx context.Context, t *testing.T) error {
	if !w.open {
		alerts := w.parts.Alerts
		if err := w.parts.Close(); err != nil {
			return err
		}
		var err error
		if w.parts, err = w.opener.Open(ctx); err != nil {
			return err
		}
		if w.hosted != nil {
			if err := (local.Parts{Repository: w.parts.Repository}).Close(); err != nil {
				return err
			}
			if w.parts.Repository, w.parts.Proposals, err = w.hosted(); err != nil {
				return err
			}
		}
		if w.grows == nil {
			w.parts.Sampler = played{w}
		}
		if w.parts.Alerts == nil {
			w.parts.Alerts = w.letters(alerts)
		}
	}
	w.runs++
	w.parts.Owner = fmt.Sprint("run ", w.runs)
	var logs, shown bytes.Buffer
	r, err := local.Tick(w.opener.Config, w.parts).Run(ctx)
	report.Log(report.NewLogger(&logs, w.parts.Clock), r, 0, err)
	if err := errors.Join(report.New(r).Table(&shown, term.Style{}), term.JSON(&shown, report.New(r))); err != nil {
		t.Error(err)
	}
	w.said.WriteString(logs.String() + shown.String())
	return errors.Join(err, r.Err())
}

// letters returns the fake topic, the same each time that the parts are opened.
func (w *world) letters(before any) *letters {
	l, ok := before.(*letters)
	if !ok {
		l = &letters{}
	}
	w.told = func(*testing.T) []string { return l.sent }
	return l
}

// calm runs a tick without a fault.
func (w *world) calm(t *testing.T) {
	t.Helper()
	if err := w.tick(t); err != nil {
		t.Fatalf("a calm tick: %v", err)
	}
}

// declares fails the test unless git has a level, from one commit, and the site's state
// agrees.
func (w *world) declares(t *testing.T, level int32) {
	t.Helper()
	record := w.origin.Show(t, "main", "checkpoints/"+w.site+"/"+w.site+".levels.yaml")
	if !strings.Contains(record, fmt.Sprintf("  deployment.web: %q\n", fmt.Sprint(level))) {
		t.Errorf("want web at %d; the record is\n%s", level, record)
	}
	log := w.origin.Log(t, "main")
	if n := len(slices.DeleteFunc(slices.Clone(log), func(s string) bool { return !strings.HasSuffix(s, fmt.Sprint(" -> ", level)) })); n != 1 {
		t.Errorf("%d commits go to %d: %q", n, level, log)
	}
	head, latches, err := latch.Load(t.Context(), w.parts.Store, w.site)
	if err != nil {
		t.Fatal(err)
	}
	if len(latches) != 1 || latches[w.id()].Declared.Replicas != level || head.Agreed.Tip != w.origin.Tip("main") {
		t.Errorf("want web at %d; the latches are %+v, agreed is %s, the tip %s", level, latches, head.Agreed.Tip, w.origin.Tip("main"))
	}
	stored, err := json.Marshal([]any{head, latches})
	if err != nil {
		t.Error(err)
	}
	w.said.Write(stored)
}

// heard fails the test unless these are all alerts so far, each sent once.
func (w *world) heard(t *testing.T, want []string) {
	t.Helper()
	var got []string
	for _, sent := range w.told(t) {
		var a alert.Alert
		if err := json.NewDecoder(strings.NewReader(sent)).Decode(&a); err != nil {
			t.Fatalf("message %q: %v", sent, err)
		}
		got = append(got, fmt.Sprint(a.Kind, " ", a.State))
	}
	if !slices.Equal(got, want) {
		t.Errorf("alerts %q, want %q", got, want)
	}
}

// plain replaces addresses with their names.
func (w *world) plain(text string) string {
	for address, name := range w.names {
		text = strings.ReplaceAll(text, address, name)
	}
	text = requests.ReplaceAllString(text, "RequestID: ID,")
	text = streams.ReplaceAllString(text, "stream ID N")
	text = ports.ReplaceAllString(strings.ReplaceAll(text, w.site, "SITE"), "HOST")
	return given.ReplaceAllString(text, "${1}WHY")
}
