package cli_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// In the cluster, Flux applies an overlay of shop, and no tool applies pay.
const (
	kustomizations = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: KustomizationList
items:
- metadata: {name: shop, namespace: flux-system}
  spec:
    path: ./clusters/prod-eu/shop
    sourceRef: {kind: GitRepository, name: fleet}
    ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]
  status: {conditions: [{type: Ready, status: "True"}]}
`
	repositories = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepositoryList
items:
- metadata: {name: fleet, namespace: flux-system}
  spec: {url: https://git.example.com/platform/fleet.git, ref: {branch: main}}
  status: {conditions: [{type: Ready, status: "True"}]}
`
	overlay   = "resources: [../../../apps/shop]\ncomponents: [../../../checkpoints/prod-eu/shop]\n"
	manifests = `resources: [all.yaml]
`
)

func manifestsOf(namespace string, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec: {selector: {}}\n---\n")
	}
	return b.String()
}

// tended returns a settled world with a valid setup for shop; pay is not latched.
func tended(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	delete(w.api.workloads, "pay/statefulset/ledger")
	w.api.objects = map[string]string{"kustomizations": kustomizations, "gitrepositories": repositories}
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	w.overlays(t)
	return w
}

// overlays pushes the overlay of shop.
func (w *world) overlays(t *testing.T) {
	t.Helper()
	w.origin.Push(t, "main", map[string]string{
		"clusters/prod-eu/shop/kustomization.yaml": overlay,
		"apps/shop/kustomization.yaml":             manifests,
		"apps/shop/all.yaml":                       manifestsOf("shop", "api", "cart", "web"),
	}, "overlay of shop")
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
	w.api.objects["kustomizations"] = strings.Replace(kustomizations, "kind: Deployment}", "kind: Deployment, name: web}", 1)
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

// A plain git server has no pull requests, so no surge can wait for a review.
func TestDoctorReportsAReviewThatTheHostCannotGive(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching + "default: {surge: {review: true}}\n"}, "review surges")
	got := w.run("doctor")
	if got.status != 1 || !strings.Contains(got.out, "review-without-host") || !strings.Contains(got.out, "default.surge.review") {
		t.Errorf("%+v", got)
	}
}

// doctor distinguishes zero pods from an unknown number.
func TestDoctorSaysThatWhatIsPausedHasNoPods(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.origin.Push(t, "main", map[string]string{
		"apps/shop/all.yaml": strings.Replace(manifestsOf("shop", "api", "web"), "spec: {selector: {}}", "spec: {selector: {}, paused: true}", 1),
	}, "pause api, drop cart")
	table, asJSON := w.run("doctor"), w.run("doctor", "-o", "json")
	if fields := strings.Fields(line(table.out, "shop/api")); table.status != 1 || len(fields) < 4 || fields[3] != "0" {
		t.Errorf("%+v", table)
	}
	var d struct {
		Workloads []struct {
			Name      string
			RebuiltAt *int32
		}
	}
	if err := json.Unmarshal([]byte(asJSON.out), &d); err != nil || len(d.Workloads) != 3 || d.Workloads[0].RebuiltAt == nil || *d.Workloads[0].RebuiltAt != 0 || d.Workloads[1].RebuiltAt != nil {
		t.Errorf("%v: %s", err, asJSON.out)
	}
}

// line returns the first line of a text that starts with a word.
func line(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, word+" ") {
			return line
		}
	}
	return ""
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
	if got.status != 1 || !strings.HasPrefix(got.out, "other-cluster: "+own[1]+"\n  checkpoints/prod-eu/site.yaml names the cluster green as") {
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
		"no such folder":   {[]string{"--path", "clusters/none"}, "--path or build.paths: folder clusters/none does not exist on the branch"},
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
	if got.status != 1 || !strings.Contains(got.out, "could not be read: applications.argoproj.io: forbidden") {
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
