//go:build long

package bench

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// environment is the environment that Lambda and the stack set, for a site that uses
// every AWS service. The function does not call AWS before the first event.
var environment = []string{
	"AWS_REGION=eu-west-1",
	"AWS_ACCESS_KEY_ID=ASIAEXAMPLE",
	"AWS_SECRET_ACCESS_KEY=example",
	"AWS_SESSION_TOKEN=example",
	"GITLATCH_CONFIG=" + `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: prod-eu}
state: {dynamodb: gitlatch}
repository: {url: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/site"}
alerts: {topicArn: "arn:aws:sns:eu-west-1:123456789012:gitlatch"}
`,
}

// cold compares a cold start of the latch function with one of a bootstrap that links the
// same packages and does nothing.
func cold(t *testing.T, b book) {
	latch, idle := bootstrap(t, "./functions/latch"), bootstrap(t, "./functions/latch/testdata/idle")
	costs := turns(t, 41, func() { started(t, latch) }, func() { started(t, idle) })
	b.beside("cold_ratio", ratio(costs[0].clock, costs[1].clock), seconds(costs[0].clock), seconds(costs[1].clock))
	best := time.Hour
	for range 15 {
		best = min(best, initialised(t, latch))
	}
	b.alone("package_init_ms", 1000*best.Seconds())
	b.alone("zip_mb_arm64", figured(t, "make", "--no-print-directory", "zip-size")["zip_mb_arm64"])
}

// bootstrap builds a main package as the deployment does, for this machine.
func bootstrap(t *testing.T, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", binary, pkg)
	cmd.Dir, cmd.Env = filepath.Join("..", "..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return binary
}

// started returns after the first request of a bootstrap for an event. The request ends the
// bootstrap.
func started(t *testing.T, binary string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Stdout, cmd.Stderr = &said, &said
	asked := false
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = strings.HasSuffix(r.URL.Path, "/runtime/invocation/next")
		_ = cmd.Process.Kill()
		<-r.Context().Done()
	}))
	cmd.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(api.URL, "http://")}, environment...)
	err := cmd.Run()
	api.Close()
	if !asked {
		t.Fatalf("%s asked for no event: %v\n%s", binary, err, said.Bytes())
	}
}

// initLine matches an initialised package in the output of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init \S+ @[0-9.]+ ms, ([0-9.]+ ms) clock`)

// initialised returns the time for initialising all packages of a bootstrap. Without a
// configuration, the bootstrap ends with an error after that.
func initialised(t *testing.T, binary string) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	out, _ := cmd.CombinedOutput()
	var sum time.Duration
	for _, found := range initLine.FindAllSubmatch(out, -1) {
		took, err := time.ParseDuration(strings.ReplaceAll(string(found[1]), " ", ""))
		must(t, err)
		sum += took
	}
	if sum == 0 {
		t.Fatalf("%s reported no initialised package:\n%s", binary, out)
	}
	return sum
}

// figured runs a program at the root of the repository, and returns its figures.
func figured(t *testing.T, program string, args ...string) map[string]float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = filepath.Join("..", "..", "..")
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, words.String())
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "figure" {
			value, err := strconv.ParseFloat(f[2], 64)
			must(t, err)
			found[f[1]] = value
		}
	}
	return found
}
