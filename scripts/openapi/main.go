// Command openapi reads GitHub's OpenAPI description, and writes of it the paths
// that gitlatch calls with all that they refer to, and without examples.
//
//	go run ./scripts/openapi <api.github.com.json >testdata/github/openapi.json
//
// Where the description comes from, scripts/openapi/fetch.sh says.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// called is what gitlatch calls, by path.
var called = map[string][]string{
	"/app/installations/{installation_id}/access_tokens":   {"post"},
	"/repos/{owner}/{repo}/pulls":                          {"get", "post"},
	"/repos/{owner}/{repo}/pulls/{pull_number}":            {"get", "patch"},
	"/repos/{owner}/{repo}/issues/{issue_number}/comments": {"post"},
	"/repos/{owner}/{repo}/git/refs/{ref}":                 {"delete"},
}

func main() {
	var whole map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&whole); err != nil {
		fail(err)
	}
	pruned, err := prune(whole, called)
	if err != nil {
		fail(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(pruned); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "openapi:", err)
	os.Exit(1)
}
