// Package fleet simulates how many sites can share a repository, and how best to divide
// it among them. The ticks of the sites, their git client and git's own server are
// real. The clusters, the state and time are simulated. It contains only tests.
// README.md describes the measurements and the decisions that follow.
package fleet
