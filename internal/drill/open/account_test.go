package open_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// Without a standby, the account is the account of the site's cluster.
func TestTheAccountIsTheAccountOfTheClusterThatIsRebuilt(t *testing.T) {
	const role = "arn:aws:iam::444455556666:role/standby"
	stand := eks.Start(t)
	stand.Role(role, "gitlatch/prod-eu")
	key := stand.Key("arn:aws:sts::123456789012:assumed-role/drill/1")
	w := gateway.Start(t, map[string]string{"eks": stand.URL, "ec2": stand.URL, "servicequotas": stand.URL})
	var mu sync.Mutex
	var scopes []string
	denied := gateway.Fault(http.StatusBadRequest, "AccessDeniedException", "no")
	for _, operation := range []string{"eks:ListNodegroups", "servicequotas:ListServiceQuotas", "ec2:DescribeInstances"} {
		w.Instead(operation, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			scopes = append(scopes, r.URL.Path+" "+r.Header.Get("Authorization"))
			denied.ServeHTTP(rw, r)
		}))
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey, "AWS_SESSION_TOKEN": key.SessionToken,
		"AWS_ENDPOINT_URL": w.URL, "AWS_ENDPOINT_URL_STS": stand.URL, "AWS_REGION": eks.Region,
	} {
		t.Setenv(name, value)
	}
	for _, c := range []struct{ name, cluster, standby, region, path string }{
		{"the site's cluster", "{eks: prod}", "{}", eks.Region, "/clusters/prod/"},
		{"a standby", "{eks: prod}", "{eks: arn:aws:eks:eu-central-1:123456789012:cluster/other}", "eu-central-1", "/clusters/other/"},
		{"a standby in another account", "{eks: prod}", fmt.Sprintf("{eks: arn:aws:eks:eu-central-1:123456789012:cluster/other, roleArn: %q}", role), "eu-central-1", "/clusters/other/"},
		{"a standby without names on AWS", "{eks: prod}", "{context: standby}", "", ""},
		{"no names on AWS", "{context: mine}", "{}", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			scopes = nil
			add, err := open.Account(t.Context(), opener(t, c.cluster, c.standby))
			if err != nil || (add == nil) != (c.region == "") {
				t.Fatalf("an account: %v, error %v", add != nil, err)
			}
			if add == nil {
				return
			}
			got := add(t.Context(), nil)
			if len(scopes) != 3 || len(got.Missing) != 3 {
				t.Fatalf("calls %q, missing %+v", scopes, got.Missing)
			}
			for _, scope := range scopes {
				if !strings.Contains(scope, "/"+c.region+"/") || strings.Contains(scope, key.AccessKeyID) == strings.Contains(c.standby, role) {
					t.Errorf("%s is not in %s with the credentials of %s", scope, c.region, c.standby)
				}
			}
			if !slices.ContainsFunc(scopes, func(scope string) bool { return strings.HasPrefix(scope, c.path) }) {
				t.Errorf("no call for %s in %q", c.path, scopes)
			}
		})
	}
}

func opener(t *testing.T, cluster, standby string) *wiring.Opener {
	t.Helper()
	text := "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\nrepository: {url: /srv/site.git}\ncluster: " + cluster + "\n"
	if standby != "{}" {
		text += "standby: " + standby + "\n"
	}
	c, err := config.ParseConfig("config.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &wiring.Opener{Config: c, Getenv: func(string) string { return "" }, Clock: time.Now, Group: open.Group, Rights: open.Rights}
}

// The objects of a standby come from its context in the kubeconfig of the site.
func TestAStandbyHasALister(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "{}", http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: mine, clusters: [{name: standby, cluster: {server: %q}}, {name: mine, cluster: {server: "https://127.0.0.1:1"}}],
users: [{name: me, user: {token: t}}], contexts: [{name: standby, context: {cluster: standby, user: me}}, {name: mine, context: {cluster: mine, user: me}}]}`, server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lister, err := open.Standby(t.Context(), opener(t, fmt.Sprintf("{kubeconfig: %q}", file), "{context: standby}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lister.List(t.Context(), "/api/v1", "nodes", "Node"); err == nil {
		t.Error("a forbidden list has no error")
	}
	if path := <-asked; path != "/api/v1/nodes" {
		t.Errorf("asked for %s", path)
	}
	if none, err := open.Standby(t.Context(), opener(t, "{context: mine}", "{}")); none != nil || err != nil {
		t.Errorf("without a standby: %v, error %v", none, err)
	}
}
