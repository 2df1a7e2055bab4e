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
)

// Source adds the samples of one source to a past. If the source starts with {, it is an
// answer of Prometheus. Otherwise it is CSV. Errors contain the name.
func Source(name string, from io.Reader, into *backtest.Past) error {
	in := bufio.NewReaderSize(from, 64<<10)
	if head, err := in.Peek(3); err == nil && string(head) == "\ufeff" {
		_, _ = in.Discard(3) // never fails after Peek
	}
	head, err := in.Peek(512)
	head = bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF):
		return fmt.Errorf("%s is empty. It must contain CSV, or the JSON of Prometheus", name)
	case len(head) == 0 && err != nil:
		return unread(name, err)
	case bytes.HasPrefix(head, []byte("{")):
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
