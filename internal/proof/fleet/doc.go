// Package fleet finds out, by simulation, how many sites can share a repository
// and how it is best divided among them. The sites' ticks, their way to git and
// git's own server are the real ones; clusters, the state and time are played. It
// holds tests alone; README.md says what they measure and what that decides.
package fleet
