// Package gitwire is the adapter of [repo.Repository] for any git repository:
// over smart HTTP, or on the local disk. It never clones. It walks the tree of
// one commit to the paths asked for, a request a level, takes what a directory
// holds at once, and pushes the few objects that a change makes; all cost a few
// kilobytes, whatever the size of the repository.
//
// What a host's server can do is not asked beforehand: the best is assumed
// (protocol version 2, partial clone), so that a look at an unmoved branch is
// one request. Only when something fails is the server asked what it has, and
// what it has not is done in an older way.
package gitwire
