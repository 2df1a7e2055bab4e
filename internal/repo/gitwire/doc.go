// Package gitwire is the adapter of [repo.Repository] for any git repository: over smart
// HTTP, over SSH, or on the local disk. It never clones. It walks the tree of one commit
// to the paths, with one request for each level. It fetches the content of a directory in
// one request, and pushes the few objects of a change. Each operation costs a few
// kilobytes, even if the repository is large.
//
// Package pack has the formats of objects and packs, package wire the protocol, and
// package [github.com/gitlatch/gitlatch/internal/repo/sight] the walk to the paths.
package gitwire
