// Package drill says what a rebuild from git would give today: how much of what
// each workload needs it would start with, by what, and how long the rest would
// take. It is pure: a document is a function of what a tick saw and wrote, of
// what doctor found at the commit that came of it, and of the drill before.
package drill
