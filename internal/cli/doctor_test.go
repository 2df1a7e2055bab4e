package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
)

// tended returns a settled world in which Flux applies the levels of shop, and then its
// workloads; pay is not latched.
func tended(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	delete(w.api.workloads, "pay/statefulset/ledger")
	w.api.flux = true
	w.api.objects = levels.Objects("prod-eu", map[string]map[string]string{"shop": {"deployment.api": "50", "deployment.cart": "20", "deployment.web": "100"}})
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	w.origin.Push(t, "main", map[string]string{admission.Path: string(levels.Policy())}, "the admission policy")
	return w
}

func TestDoctorIsContentWithWhatIsAsItShouldBe(t *testing.T) {
	t.Parallel()
	w := tended(t)
	before := w.hash(t)
	got := w.run("doctor")
	if got.status != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "doctor-good.txt", got.out)
	if w.hash(t) != before {
		t.Error("it wrote")
	}
}

func TestDoctorSaysWhatToMend(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.api.objects["kustomizations"] = strings.Replace(w.api.objects["kustomizations"], "dependsOn", "dependedOn", 1)
	w.api.objects["resourcequotas"] = "kind: ResourceQuotaList\nitems: [{metadata: {name: small, namespace: shop}, spec: {hard: {pods: \"100\"}}}]\n"
	got := w.run("doctor")
	if got.status != 1 || got.err != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "doctor-findings.txt", got.out)
	for line := range strings.Lines(got.out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	asJSON := w.run("doctor", "-o", "json")
	if asJSON.status != 1 || !json.Valid([]byte(asJSON.out)) {
		t.Errorf("%+v", asJSON)
	}
	golden(t, "doctor-findings.json", asJSON.out)
}

// With --try, doctor sends only dry runs: one for each workload with a level.
func TestDoctorTriesWithoutWriting(t *testing.T) {
	t.Parallel()
	w := tended(t)
	next := w.api.Config.Handler
	var together sync.Mutex
	var sent []string
	w.api.Config.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			next.ServeHTTP(answer, r)
			return
		}
		together.Lock()
		defer together.Unlock()
		sent = append(sent, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, r.URL.Query()["dryRun"]))
		text, _ := io.ReadAll(r.Body)
		status, reason, message := http.StatusConflict, "AlreadyExists", "exists"
		if strings.Contains(string(text), `"replicas":100`) {
			status, reason, message = http.StatusUnprocessableEntity, "Invalid", `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 60 replicas`
		}
		answer.Header().Set("Content-Type", "application/json")
		answer.WriteHeader(status)
		fmt.Fprintf(answer, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": %q}`, status, reason, message)
	})
	got := w.run("doctor", "--try")
	slices.Sort(sent)
	if one := "POST /apis/apps/v1/namespaces/shop/deployments [All]"; !slices.Equal(sent, []string{one, one, one}) {
		t.Errorf("sent %q", sent)
	}
	if got.status != 1 || got.err != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "doctor-try.txt", got.out)
	sent = nil
	if got := w.run("doctor"); got.status != 0 || len(sent) > 0 {
		t.Errorf("without --try: %+v, sent %q", got, sent)
	}
}

// A plain git server has no pull requests, so no surge can wait for a review.
func TestDoctorReportsAReviewThatTheHostCannotGive(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latches + "policies: [{name: default, match: {}, series: 1-2-5, review: true}]\n"}, "review surges")
	got := w.run("doctor")
	if got.status != 1 || !strings.Contains(got.out, "review-without-host") || !strings.Contains(got.out, "policies[0].review") {
		t.Errorf("%+v", got)
	}
}

// doctor reports that a cluster is another one.
func TestDoctorKnowsAnotherCluster(t *testing.T) {
	t.Parallel()
	w := tended(t)
	const at = "checkpoints/prod-eu/site.yaml"
	text := w.origin.Show(t, "main", at)
	if got := w.run("doctor"); got.status != 0 {
		t.Fatalf("of its own: %+v", got)
	}
	own := regexp.MustCompile(`cluster: "(.*)"`).FindStringSubmatch(text)
	if own == nil {
		t.Fatalf("%s names no cluster", text)
	}
	w.origin.Push(t, "main", map[string]string{at: strings.Replace(text, own[1], "green", 1)}, "another")
	got := w.run("doctor")
	if got.status != 1 || !strings.HasPrefix(got.out, "other-cluster (observed): "+own[1]+"\n  checkpoints/prod-eu/site.yaml names the cluster green as") {
		t.Errorf("says\n%s", got.out)
	}
}

func TestDoctorTellsTroubleFromFindings(t *testing.T) {
	t.Parallel()
	w := tended(t)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a wrong output":   {[]string{"-o", "html"}, "must be one of table, json, yaml"},
		"no such context":  {[]string{"--context", "green"}, `no context "green"`},
		"an argument":      {[]string{"shop"}, "requires no arguments"},
		"no configuration": {[]string{"--repository", w.path("none")}, "none"},
	} {
		got := w.run(append([]string{"doctor"}, c.args...)...)
		if name == "an argument" {
			if got.status == 0 {
				t.Errorf("%s: %+v", name, got)
			}
		} else if got.status != 2 || !strings.Contains(got.err, c.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	w.api.refuse["applications"] = http.StatusForbidden
	got := w.run("doctor")
	if got.status != 1 || !strings.Contains(got.out, "missing-rights (observed): applications.argoproj.io\n") {
		t.Errorf("a kind that may not be read: %+v", got)
	}
	w.api.Close()
	if got = w.run("doctor"); got.status != 2 || !strings.Contains(got.err, "reach the API server") {
		t.Errorf("no server: %+v", got)
	}
}

// files returns the files on the branch.
func (w *world) files(t *testing.T) map[string]string {
	t.Helper()
	return w.origin.Files(t, "main")
}
