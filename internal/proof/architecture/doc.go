// Package architecture holds no code, only the test of how the packages lie:
// which of them are pure, who may import what, and what stands at the top of
// the repository.
package architecture
