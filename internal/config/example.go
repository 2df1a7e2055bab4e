package config

import "fmt"

// ExamplePolicy returns the first policy file of a site in a mode: its mode, and an example of
// a policy in comments. The handbook has the other fields, so that the file contains what its
// site chose.
func ExamplePolicy(mode string) []byte {
	return fmt.Appendf(nil, `%sapiVersion: %s
kind: %s

# observe: gitlatch reports level changes. latch: gitlatch commits them to git.
mode: %s

# To list all fields and their defaults, run "gitlatch help config". An example:
# policies:
# - name: batch
#   match: {namespaces: [batch]}
#   hold: {down: 8d}
`, Modeline(KindPolicy), APIVersion, KindPolicy, mode)
}
