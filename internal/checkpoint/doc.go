// Package checkpoint defines the checkpoint files in git: the [Entry] of a workload, the
// canonical bytes of the files of a site, and the functions that parse and merge them. It
// is pure: bytes in, bytes out.
//
// Below checkpoints/<site>/ are site.yaml, a [Site], and for each namespace of workloads the
// checkpoint file <namespace>.levels.yaml, a [Record]. Each file contains plain manifests
// that any tool can apply. A namespace has no dot, so no namespace can have the name of
// another file.
//
// The levels in a checkpoint file are the truth, and gitlatch accepts a user's edit of
// them. The other text of the file is constant, and gitlatch restores it. The output is
// canonical, so that equal content is always equal bytes. The parser reports all problems
// at once.
package checkpoint
