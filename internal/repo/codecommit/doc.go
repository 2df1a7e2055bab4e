// Package codecommit is the adapter of [repo.Repository] and [repo.Proposals]
// for AWS CodeCommit, by its API alone: a commit is one CreateCommit, which
// CodeCommit takes only on the branch's tip, and what a tick reads is folders
// and blobs by their ids.
//
// Three things differ from git. The server makes the commits, so their ids and
// times are its own, and a commit that is made again is known by its message,
// its parent and its content. A branch cannot be moved but forward: a proposal
// that is changed gets its next commit on top, as long as the base stands where
// the branch parted from it. Where the base moved, the branch is removed and made
// anew, upon which CodeCommit closes its pull request, and the next one is
// opened in its place.
package codecommit
