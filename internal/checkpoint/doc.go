// Package checkpoint is the rounded record in git: what an [Entry] declares of
// a workload, the canonical bytes of the record and of the kustomize Component
// that says the same, and how a record is read back, merged and retired. It is
// pure: bytes in, bytes out.
package checkpoint
