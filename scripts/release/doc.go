// Package release has only tests: of .goreleaser.yaml, and of the workflows.
package release
