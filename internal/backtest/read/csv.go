package read

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The columns of CSV, in any order. The first three are required.
const (
	columnTime     = "time"
	columnWorkload = "workload"
	columnReplicas = "replicas"
	columnReady    = "ready"
	columnMin      = "min"
	columnMax      = "max"
	columnTarget   = "target"
)

var columns = []string{columnTime, columnWorkload, columnReplicas, columnReady, columnMin, columnMax, columnTarget}

const required = 3

// A table is the state of reading CSV.
type table struct {
	name string
	rows *csv.Reader
	at   map[string]int // indexes of the columns in the file
	into *backtest.Past

	byText map[string]*backtest.Run
	byID   map[workload.ID]*backtest.Run

	lastText string // text of the last time: adjacent rows often have the same
	last     time.Time
}

func readCSV(name string, from io.Reader, into *backtest.Past) error {
	t := &table{
		name: name, rows: csv.NewReader(from), into: into, at: map[string]int{},
		byText: map[string]*backtest.Run{}, byID: map[workload.ID]*backtest.Run{},
	}
	t.rows.ReuseRecord, t.rows.TrimLeadingSpace = true, true
	if err := t.header(); err != nil {
		return err
	}
	for {
		row, err := t.rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return t.broken(err)
		}
		if err := t.row(row); err != nil {
			line, _ := t.rows.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", name, line, err)
		}
	}
}

func (t *table) header() error {
	row, err := t.rows.Read()
	if err != nil {
		return t.broken(err)
	}
	for i, column := range row {
		column = strings.ToLower(strings.TrimSpace(column))
		_, twice := t.at[column]
		switch {
		case !slices.Contains(columns, column):
			return fmt.Errorf("%s: line 1: column %q: must be one of %s", t.name, row[i], strings.Join(columns, ", "))
		case twice:
			return fmt.Errorf("%s: line 1: column %q appears twice. Remove one", t.name, column)
		}
		t.at[column] = i
	}
	for _, column := range columns[:required] {
		if _, ok := t.at[column]; !ok {
			return fmt.Errorf("%s: line 1: column %q is missing. The first line must contain the columns %s", t.name, column, strings.Join(columns[:required], ", "))
		}
	}
	return nil
}

// broken returns an error with the place of invalid CSV.
func (t *table) broken(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return unread(t.name, err)
	}
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		return fmt.Errorf("%s: line %d: must have the %d fields that line 1 names", t.name, parse.Line, len(t.at))
	}
	return fmt.Errorf("%s: line %d: is not CSV: %w. Put values with commas or quotes in quotes", t.name, parse.Line, parse.Err)
}

func (t *table) row(row []string) error {
	at, err := t.time(row[t.at[columnTime]])
	if err != nil {
		return fmt.Errorf("%s: %w", columnTime, err)
	}
	desired, err := t.count(row, columnReplicas, unknown)
	if err != nil || desired == unknown {
		return err // a row without replicas is not a sample
	}
	scale := workload.Scale{Desired: desired}
	if scale.Ready, err = t.count(row, columnReady, desired); err != nil {
		return err
	}
	if scale.Min, err = t.count(row, columnMin, 0); err != nil {
		return err
	}
	if scale.Max, err = t.count(row, columnMax, 0); err != nil {
		return err
	}
	if scale.Target, err = t.target(row); err != nil {
		return err
	}
	run, err := t.run(row[t.at[columnWorkload]])
	if err != nil {
		return err
	}
	return run.Add(backtest.Sample{At: at, Scale: scale})
}

func (t *table) time(text string) (time.Time, error) {
	if text == t.lastText && text != "" {
		return t.last, nil
	}
	at, err := instant(text)
	if err == nil {
		t.lastText, t.last = strings.Clone(text), at
	}
	return at, err
}

// count parses a column of pods. If the column is absent, empty or unknown, it returns
// other.
func (t *table) count(row []string, column string, other int32) (int32, error) {
	i, ok := t.at[column]
	if !ok || row[i] == "" {
		return other, nil
	}
	n, err := pods(row[i])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", column, err)
	}
	if n == unknown {
		return other, nil
	}
	return n, nil
}

func (t *table) target(row []string) (float64, error) {
	i, ok := t.at[columnTarget]
	if !ok || row[i] == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(row[i], 64)
	if err != nil || !(v > 0 && v <= 1) {
		return 0, fmt.Errorf("%s: must be a utilisation above 0 and at most 1, such as 0.75, got %q", columnTarget, row[i])
	}
	return v, nil
}

func (t *table) run(text string) (*backtest.Run, error) {
	if run := t.byText[text]; run != nil {
		return run, nil
	}
	id, err := parseID(text)
	if err != nil {
		return nil, err
	}
	run := t.byID[id]
	if run == nil {
		run = t.into.Run(id, t.name)
		t.byID[id] = run
	}
	t.byText[strings.Clone(text)] = run
	return run, nil
}
