package config

import (
	"bytes"
	_ "embed"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
)

//go:embed example/gitlatch.yaml
var examplePolicy []byte

// ExamplePolicy is a document of kind Policy that observes, explains each field
// and shows every default. Less its comments' marks it says the same.
func ExamplePolicy(period time.Duration) []byte {
	within := func(p time.Duration) []byte {
		return []byte("within: " + policy.Span(DefaultPolicy(p).Guards.DropWithin) + "\n")
	}
	return bytes.Replace(examplePolicy, within(0), within(period), 1)
}
