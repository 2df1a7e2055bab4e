// Package checkpoint is the rounded record in git: what an [Entry] declares of
// a workload, the canonical bytes of the record and of the kustomize Component
// that says the same, and how a record is read back, merged and retired. It is
// pure: bytes in, bytes out.
//
// Below checkpoints/<site>/ are site.yaml, a [Site], and for each namespace a
// record, checkpoint.yaml, and its Component, kustomization.yaml. The record is
// the truth; the Component is written from it and never read. Reading is
// strict and finds all that is wrong at once; writing is canonical, so that the
// same content is always the same bytes.
package checkpoint
