package config

import (
	"bytes"
	_ "embed"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
)

//go:embed example/gitlatch.yaml
var examplePolicy []byte

// ExamplePolicy returns a document of kind Policy in a mode. It explains each field and
// shows every default in a comment. Without the comment marks, it has the same meaning.
func ExamplePolicy(period time.Duration, mode string) []byte {
	within := func(p time.Duration) []byte {
		return []byte("within: " + policy.Span(DefaultPolicy(p).Guards.DropWithin) + "\n")
	}
	example := bytes.Replace(examplePolicy, within(0), within(period), 1)
	return bytes.Replace(example, []byte("\nmode: "+ModeObserve+"\n"), []byte("\nmode: "+mode+"\n"), 1)
}
