// Command openapi reads GitHub's OpenAPI description, and writes the paths that
// gitlatch calls with all of their references, without examples.
//
//	go run ./scripts/openapi <api.github.com.json >testdata/github/openapi.json
//
// scripts/openapi/fetch.sh downloads the description.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// called are the operations that gitlatch calls, by path.
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
