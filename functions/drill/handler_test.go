package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/config"
)

const document = `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {kubeconfig: /nowhere/kubeconfig}
state: {memory: {}}
repository: {url: "https://git.example.com/site.git"}
`

func handlerOf(document string) (*handler, error) {
	getenv := func(name string) string { return map[string]string{config.Variable: document}[name] }
	return newHandler(getenv, time.Now, zerolog.Nop(), io.Discard)
}

func TestAFunctionThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ document, want string }{
		"no configuration": {"", "GITLATCH_CONFIG must contain a document of kind Config"},
		"a misspelt field": {document + "perriod: 5m\n", "perriod"},
	} {
		if _, err := handlerOf(c.document); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEventIsTakenToTheLetter(t *testing.T) {
	t.Parallel()
	h, err := handlerOf(document)
	if err != nil {
		t.Fatal(err)
	}
	for payload, want := range map[string]string{
		// Valid events, which fail later because the cluster does not exist.
		``:   "kubeconfig /nowhere/kubeconfig",
		`{}`: "kubeconfig /nowhere/kubeconfig",
		`{"site": "prod-eu", "minCoverage": 0, "dryRun": true}`: "kubeconfig /nowhere/kubeconfig",
		`{"flush": false}`: "kubeconfig /nowhere/kubeconfig",
		// Invalid events.
		`{"site": "prod-us"}`:   `site is "prod-us", and this function is configured for "prod-eu"`,
		`{"dry_run": true}`:     `unknown field "dry_run"; want {"site": "prod-eu", "minCoverage": 0.95} or less`,
		`{"minCoverage": 95}`:   "minCoverage must be from 0 to 1, got 95",
		`{"minCoverage": -0.1}`: "minCoverage must be from 0 to 1",
	} {
		if _, err := h.handle(t.Context(), json.RawMessage(payload)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", payload, err, want)
		}
	}
}

// An event flushes unless one of two fields prevents it.
func TestAnEventFlushesUnlessToldNotTo(t *testing.T) {
	t.Parallel()
	h, err := handlerOf(document)
	if err != nil {
		t.Fatal(err)
	}
	for payload, flushes := range map[string]bool{`{}`: true, `{"flush": true}`: true, `{"flush": false}`: false, `{"dryRun": true}`: false, `{"flush": true, "dryRun": true}`: false} {
		if e, err := h.parse(json.RawMessage(payload)); err != nil || e.flushes() != flushes {
			t.Errorf("%s: %+v, %v", payload, e, err)
		}
	}
}
