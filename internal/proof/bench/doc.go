// Package bench measures gitlatch beside what people would use instead: a client that
// drains the same answers, git, go-git, and the bare writes. Each figure is the median
// of runs that took turns with those of its baseline, in one process. It holds tests
// alone.
package bench
