// Package checkpoint defines the checkpoint files in git: the [Entry] of a workload, the
// canonical bytes of the checkpoint file and of the kustomize Component with the same
// levels, and the functions that parse and merge them. It is pure: bytes in, bytes out.
//
// Below checkpoints/<site>/ are site.yaml, a [Site], kustomization.yaml, the list of the
// checkpoint files (see [List]), and for each namespace a checkpoint file, checkpoint.yaml, and its Component, kustomization.yaml. The checkpoint file is
// the truth. The Component is written from it and never read. The parser is strict and
// reports all problems at once. The output is canonical, so that equal content is always
// equal bytes.
package checkpoint
