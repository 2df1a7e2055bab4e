// Package gitwire is the adapter of [repo.Repository] for any git repository:
// over smart HTTP, or on the local disk. It never clones. It walks the tree of
// one commit to the paths asked for, a request a level, takes what a directory
// holds at once, and pushes the few objects that a change makes; all cost a few
// kilobytes, whatever the size of the repository.
//
// Package pack has the formats of objects and packs, package wire the protocol, and package
// [github.com/gitlatch/gitlatch/internal/repo/sight] the walk to the paths.
package gitwire
