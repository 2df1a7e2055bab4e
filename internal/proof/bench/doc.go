// Package bench compares gitlatch with the alternatives: a client that drains the same
// answers, git and go-git as their best users run them, and the bare writes. Each
// figure is the median of runs that took turns with the runs of its baseline, in one
// process. It contains only tests.
package bench
