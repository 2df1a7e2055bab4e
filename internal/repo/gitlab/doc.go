// Package gitlab adapts the merge requests of GitLab to [repo.Proposals]. Package gitwire
// reads and writes the repository.
package gitlab
