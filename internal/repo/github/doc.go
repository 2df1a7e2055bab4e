// Package github is repositories on GitHub: git by package gitwire, with the
// credentials that GitHub gives out, and [repo.Proposals] by its REST API.
package github
