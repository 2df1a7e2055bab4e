package faults

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/github"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	standin "github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A login key never appears in any output: while the server accepts it, when the server
// refuses it, changes or hangs, and when the key is truncated.
func TestAKeyThatLogsInShowsNowhere(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (w *world, faults []func()){"a deploy key": byDeployKey, "an App's key": byApp} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, faults := open(t)
			w.needs(t, 87)
			w.calm(t)
			w.declares(t, 100)
			for i, fault := range faults {
				fault()
				w.open = false
				if err := w.tick(t); err == nil {
					t.Errorf("fault %d does nothing", i)
				}
			}
			w.leaks(t)
		})
	}
}

// byDeployKey is a site that reaches its git server over SSH.
func byDeployKey(t *testing.T) (*world, []func()) {
	w := newWorld(t, "ssh", "state: {memory: {}}\n")
	server := gitserver.StartSSH(t)
	w.origin = server.Create(t, "site", map[string]string{"gitlatch.yaml": fmt.Sprintf(policy, w.site)})
	login := server.HostKeys()[0] + "\n" + string(server.Key)
	w.environment["DEPLOY_KEY"], w.environment["WHOLE_KEY"] = login, login
	w.configure(t, fmt.Sprintf("cluster: {kubeconfig: %q}\nstate: {memory: {}}\nrepository: {url: %q, credential: env:DEPLOY_KEY}\n",
		w.kubeconfig, server.URL("site")))
	_, stranger := gitserver.NewKey(t)
	return w, []func(){
		func() { server.LetIn(stranger.PublicKey()) },
		func() { server.Rekey(t) },
		func() { w.environment["DEPLOY_KEY"] = cutShort(login) },
	}
}

// byApp is a site on GitHub with the login of a GitHub App.
func byApp(t *testing.T) (*world, []func()) {
	w := newWorld(t, "app", "state: {memory: {}}\n")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	host := standin.Start(t)
	host.Install(standin.App{ID: 7, InstallationID: 70, Key: &key.PublicKey})
	w.origin = host.Create(t, "site", map[string]string{"gitlatch.yaml": fmt.Sprintf(policy, w.site)})
	w.environment["APP_KEY"] = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	w.environment["WHOLE_KEY"] = w.environment["APP_KEY"]
	w.hosted = func() (repo.Repository, repo.Proposals, error) {
		secret, err := json.Marshal(map[string]any{"appId": 7, "installationId": 70, "privateKey": w.environment["APP_KEY"]})
		if err != nil {
			return nil, nil, err
		}
		r, p, err := github.Open(github.Options{
			Repository: standin.Owner + "/site", APIURL: host.APIURL(),
			Secret: func(context.Context) (github.Credentials, error) { return github.ParseSecret(string(secret)) },
			Git: gitwire.Options{
				Branch: "main", TempDir: t.TempDir(),
				Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
			},
		})
		return r, p, err
	}
	return w, []func(){
		host.Suspend,
		func() { host.Resume(); host.Install(standin.App{ID: 8, InstallationID: 80, Key: &key.PublicKey}) },
		func() { w.environment["APP_KEY"] = cutShort(w.environment["APP_KEY"]) },
	}
}

// cutShort returns a key without its second half.
func cutShort(key string) string {
	lines := strings.SplitAfter(key, "\n")
	return strings.Join(lines[:len(lines)/2], "")
}
