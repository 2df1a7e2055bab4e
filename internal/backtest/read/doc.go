// Package read reads past samples of workloads from comma-separated values, or from
// Prometheus' answer to query_range. An error names the source, the line or the field,
// and a remedy.
package read

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Source adds the samples of one source to a past. If the source starts with {, it is an
// answer of Prometheus. Otherwise it is CSV. Errors contain the name.
func Source(name string, from io.Reader, into *backtest.Past) error {
	in := bufio.NewReaderSize(from, 64<<10)
	head, _ := in.Peek(512) // an error is also the error of the next read
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return readPrometheus(name, in, into)
	}
	return readCSV(name, in, into)
}

// unread returns an error of reading, which contains the name once.
func unread(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// sample adds the sample with a time and a replica count as texts. An unknown replica count
// is not a sample.
func sample(into *backtest.Past, id workload.ID, source, time, replicas string) error {
	at, err := instant(time)
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	n, err := pods(replicas)
	if err != nil {
		return fmt.Errorf("replicas: %w", err)
	}
	if n == unknown {
		return nil
	}
	return into.Add(id, source, backtest.Sample{At: at, Pods: n})
}

// unknown is an unknown number of pods.
const unknown = -1

// pods parses a number of pods. It rounds averages up. It returns unknown for NaN and "".
func pods(text string) (int32, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "", err == nil && math.IsNaN(v):
		return unknown, nil
	case err != nil || v < 0 || v > math.MaxInt32:
		return 0, fmt.Errorf("must be a number of pods, from 0 to %d, got %q", math.MaxInt32, text)
	}
	return int32(math.Ceil(v)), nil
}

// instant parses RFC 3339, or seconds since 1970.
func instant(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(v):
		return time.Time{}, fmt.Errorf("must be a time such as 2026-09-14T18:00:00Z, or seconds since 1970, got %q", text)
	case v < 0 || v > maxSeconds:
		return time.Time{}, fmt.Errorf("must be in seconds since 1970, got %s, which is not from 1970 to 9999. Use seconds, not milliseconds", text)
	}
	return time.Unix(int64(v), 0), nil
}

// maxSeconds is the end of the year 9999.
const maxSeconds = 253402300799
