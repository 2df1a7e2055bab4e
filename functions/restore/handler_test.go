package main

import (
	"encoding/json"
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
	return newHandler(getenv, time.Now, zerolog.Nop())
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
		`{"action": "restore"}`: "kubeconfig /nowhere/kubeconfig",
		`{"site": "prod-eu", "action": "restore", "dryRun": true, "factor": 0.5, "namespaces": ["shop"]}`: "kubeconfig /nowhere/kubeconfig",
		`{"action": "release", "expired": true}`:                                                          "kubeconfig /nowhere/kubeconfig",
		// Invalid events.
		``:                                     `action must be "restore" or "release", got ""`,
		`{}`:                                   `action must be "restore" or "release", got ""`,
		`{"dryrun": true}`:                     `action must be "restore" or "release", got ""`, // as dryRun: Go ignores the case
		`{"key1": "value1"}`:                   `unknown field "key1"`,
		`{"action": "raise"}`:                  `got "raise"`,
		`{"site": "prod-us"}`:                  `site is "prod-us", and this function is configured for "prod-eu"`,
		`{"action": "restore", "dry_run": 1}`:  `unknown field "dry_run"; want {"site": "prod-eu", "action": "restore", "dryRun": true} or the like`,
		`{"action": "restore", "factor": -1}`:  "factor must be above 0 and at most 1, got -1",
		`{"action": "restore", "factor": 0}`:   "factor must be above 0 and at most 1, got 0",
		`{"action": "restore", "factor": 1.5}`: "factor must be above 0 and at most 1, got 1.5",
		`{"action": "restore", "expired": 1}`:  "expired",
		`{"action":"restore","expired":true}`:  "expired requires the action release",
		`{"action": "restore", "namespaces": ["shop/web"]}`: `namespaces: "shop/web" is not a namespace name`,
		`{"action": "release", "factor": 0.5}`:              "Remove factor and namespaces",
	} {
		if _, err := h.handle(t.Context(), json.RawMessage(payload)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", payload, err, want)
		}
	}
}
