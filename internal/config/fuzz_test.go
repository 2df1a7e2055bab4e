package config

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/yamldoctest"
)

// For any bytes, the parser returns a value, or problems on one line each with their
// place. The same bytes always give the same result.
func FuzzParse(f *testing.F) {
	const head = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\n"
	for _, seed := range []string{
		"", "~", "a: [", "- 1", "? {a: b}\n: c", "&a [*a]", "a: &a [*a, *a]\nb: *a", "<<: {a: b}", "%YAML 9", "\x00", "a: b\n---\nc: d",
		head + "policies: [{name: a, match: {}, series: [1, 2]}]", head + "policies: [{name: a, match: {}, series: [1, 1], hold: 5}]",
		head + "mode: !words \"latch\\nlatch\"", head + "policies: [{name: a, match: {}, hold: {up: !!int \"1\\n2\"}}]", head + "\"mo\\tde\": latch", head + "\"\": latch",
		head + "policies: [{name: a, match: {labels: {\"b\\nc\": 5}}}]",
	} {
		f.Add([]byte(seed))
	}
	for _, folder := range []string{"bad", "good"} {
		for _, fixture := range fixtures(f, folder) {
			f.Add(fixture.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		yamldoctest.Check(t, len(data), func() error {
			_, err := ParseConfig("f", data)
			return err
		})
		yamldoctest.Check(t, len(data), func() error {
			_, err := ParseFleet("f", data)
			return err
		})
		yamldoctest.Check(t, len(data), func() error {
			set, err := ParsePolicy("f", data, time.Minute)
			if err == nil && set.Default.Problems() != nil {
				t.Errorf("a policy with problems is taken: %v", set.Default.Problems())
			}
			return err
		})
	})
}
