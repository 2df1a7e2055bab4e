// Package bench measures gitlatch beside what people would use instead: a client that
// drains the same answers, git and go-git as their best users run them, and the bare
// writes. Each figure is the median of runs that took turns with those of its baseline, in
// one process. It holds tests alone.
package bench
