package flux

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// look is the interval at which the fake reads the tips of the repositories.
const look = 100 * time.Millisecond

// A source plays the source-controller.
type source struct {
	client       *http.Client
	server       string // URL of the API server
	repositories map[string]*gitserver.Origin
	artifacts    sync.Map // tarballs, by path
	url          string   // of the artifact server
}

// serve plays the source-controller until the test ends.
func serve(t testing.TB, cp *controlplane.ControlPlane, repositories map[string]*gitserver.Origin) {
	t.Helper()
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatalf("play the source-controller: %v", err)
	}
	s := &source{client: client, server: cp.Config().Host, repositories: repositories}
	web := httptest.NewServer(http.HandlerFunc(s.hand))
	s.url = web.URL

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var said []string // what went wrong, each time that it was another thing
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := s.all(ctx); err != nil && ctx.Err() == nil && (len(said) == 0 || said[len(said)-1] != err.Error()) {
				said = append(said, err.Error())
			}
			select {
			case <-ctx.Done():
			case <-time.After(look):
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		web.Close()
		// A failed test shows the errors. An answer 429, while the API server makes a
		// new resource ready, is normal.
		if t.Failed() && len(said) > 0 {
			t.Logf("play the source-controller: %s", strings.Join(said, "\n"))
		}
	})
}

// hand serves an artifact.
func (s *source) hand(w http.ResponseWriter, r *http.Request) {
	artifact, ok := s.artifacts.Load(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(artifact.([]byte)) // a client that left asks again
}

// A gitRepository has the fields of a GitRepository that the fake reads.
type gitRepository struct {
	Metadata struct {
		Namespace, Name string
		Generation      int64
		Annotations     map[string]string
	}
	Spec struct {
		URL    string
		Ignore string
		Ref    struct{ Branch string }
	}
	Status struct {
		ObservedGeneration     int64
		LastHandledReconcileAt string
		Artifact               struct{ Revision string }
	}
}

const api = "/apis/source.toolkit.fluxcd.io/v1"

// all reads each GitRepository once.
func (s *source) all(ctx context.Context) error {
	var list struct{ Items []gitRepository }
	if err := s.ask(ctx, http.MethodGet, api+"/gitrepositories", nil, &list); err != nil {
		return err
	}
	for _, r := range list.Items {
		if err := s.one(ctx, r); err != nil {
			return fmt.Errorf("GitRepository %s/%s: %w", r.Metadata.Namespace, r.Metadata.Name, err)
		}
	}
	return nil
}

// one packs the tip of a repository, if the status has another revision or another request
// of a user.
func (s *source) one(ctx context.Context, r gitRepository) error {
	origin := s.repositories[r.Spec.URL]
	if origin == nil {
		return fmt.Errorf("no repository is served as %q", r.Spec.URL)
	}
	branch := cmp.Or(r.Spec.Ref.Branch, "main")
	tip := origin.Tip(branch)
	revision := branch + "@sha1:" + tip
	requested := r.Metadata.Annotations["reconcile.fluxcd.io/requestedAt"]
	if tip == "" || r.Status.Artifact.Revision == revision && r.Status.ObservedGeneration == r.Metadata.Generation &&
		r.Status.LastHandledReconcileAt == requested {
		return nil
	}
	tarball, err := pack(ctx, origin.Dir, tip, r.Spec.Ignore)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(tarball)
	path := fmt.Sprintf("/gitrepository/%s/%s/%s.tar.gz", r.Metadata.Namespace, r.Metadata.Name, hex.EncodeToString(digest[:]))
	s.artifacts.Store(path, tarball)

	now := time.Now().UTC().Format(time.RFC3339)
	status := map[string]any{
		"observedGeneration":     r.Metadata.Generation,
		"lastHandledReconcileAt": requested,
		"artifact": map[string]any{
			"digest": "sha256:" + hex.EncodeToString(digest[:]), "path": strings.TrimPrefix(path, "/"), "url": s.url + path,
			"revision": revision, "lastUpdateTime": now, "size": len(tarball),
		},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact for revision " + revision,
			"observedGeneration": r.Metadata.Generation, "lastTransitionTime": now,
		}},
	}
	return s.ask(ctx, http.MethodPatch, fmt.Sprintf("%s/namespaces/%s/gitrepositories/%s/status", api, r.Metadata.Namespace, r.Metadata.Name),
		map[string]any{"status": status}, nil)
}

// ask asks the API server; a body is a merge patch.
func (s *source) ask(ctx context.Context, method, path string, body, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.server+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// pack returns a commit as a tarball, without the files that the patterns of
// spec.ignore exclude. Like the source-controller, go-git matches them: it compares a
// pattern with each path separately, so a pattern can include a file below an excluded
// folder again.
func pack(ctx context.Context, repository, commit, ignore string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "gitrepository")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	git := func(input string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = append(gitserver.Environ(), "GIT_DIR="+repository, "GIT_INDEX_FILE="+filepath.Join(dir, "index"))
		cmd.Stdin = strings.NewReader(input)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, stderr.Bytes())
		}
		return stdout.String(), nil
	}

	all, err := git("", "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	var patterns []gitignore.Pattern
	for line := range strings.Lines(ignore) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, nil))
		}
	}
	left := gitignore.NewMatcher(patterns)
	var kept strings.Builder
	for entry := range strings.SplitSeq(strings.TrimSuffix(all, "\x00"), "\x00") {
		if _, path, _ := strings.Cut(entry, "\t"); !left.Match(strings.Split(path, "/"), false) {
			kept.WriteString(entry + "\x00")
		}
	}
	if _, err := git(kept.String(), "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	tree, err := git("", "write-tree")
	if err != nil {
		return nil, err
	}
	tarball, err := git("", "archive", "--format=tar.gz", strings.TrimSpace(tree))
	return []byte(tarball), err
}
