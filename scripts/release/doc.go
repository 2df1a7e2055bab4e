// Package release holds tests alone: of .goreleaser.yaml, and of the workflows.
package release
