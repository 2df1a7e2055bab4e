// Package config reads the two documents that gitlatch is told by: the [Config]
// of how a site is run, and gitlatch.yaml on the branch, which becomes a
// [policy.Set].
//
// Both are strict. A field that is not known, a value of the wrong type, a key
// that stands twice: nothing is passed over, and everything that is wrong is
// reported at once, each [Problem] with its line, its field and what to do.
//
// Each document is one table of fields (configFields, policyFields) that binds
// names to variables. The loader reads by it and the JSON schemas for editors
// are made from it, so that the two cannot know different fields.
package config
