// Package architecture contains only tests of the structure of the packages: which are
// pure, which packages each may import, and which entries are at the top of the
// repository.
package architecture
