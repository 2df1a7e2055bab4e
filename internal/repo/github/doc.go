// Package github adapts repositories on GitHub: package gitwire with the credentials of
// GitHub, and [repo.Proposals] with the REST API.
package github
