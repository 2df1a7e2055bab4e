package moto

import (
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

//go:embed answer.py
var answer string

// Answer answers with a response of an operation that moto does not have. It fails the
// test if the API model of the service, by the name that botocore gives it, has no such
// members.
func Answer(t testing.TB, service, operation string, members map[string]any) http.Handler {
	t.Helper()
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	key := [3]string{service, operation, string(text)}
	made, _ := answers.LoadOrStore(key, sync.OnceValue(func() http.Handler { return serialized(t, key) }))
	return made.(func() http.Handler)()
}

// answers are the handlers so far: the API model of EC2 takes a second to load.
var answers sync.Map

func serialized(t testing.TB, of [3]string) http.Handler {
	t.Helper()
	dir := program.Folder(t, "botocore, with the API models of AWS", filepath.Join("scripts", "python", "venv.sh"))
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "python"), "-c", answer, of[0], of[1], of[2]).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", of, err, out)
	}
	var response struct {
		Headers map[string]string
		Body    string
	}
	if err := json.Unmarshal(out, &response); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range response.Headers {
			w.Header().Set(name, value)
		}
		_, _ = io.WriteString(w, response.Body)
	})
}
