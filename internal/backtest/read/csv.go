package read

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The columns of CSV that are read, in any order and among others.
var columns = []string{"time", "workload", "replicas"}

func readCSV(name string, from io.Reader, into *backtest.Past) error {
	rows := csv.NewReader(from)
	rows.ReuseRecord, rows.TrimLeadingSpace = true, true
	at := make([]int, len(columns)) // indexes in a row
	ids := map[string]workload.ID{}
	for first := true; ; first = false {
		row, err := rows.Read()
		var parse *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &parse):
			return fmt.Errorf("%s: line %d: is not CSV: %w. Give each line the fields of line 1, and put values with commas or quotes in quotes", name, parse.Line, parse.Err)
		case err != nil:
			return unread(name, err)
		case first:
			err = header(row, at)
		default:
			err = add(into, ids, name, row[at[0]], row[at[1]], row[at[2]])
		}
		if err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", name, line, err)
		}
	}
}

// header finds the columns.
func header(row []string, at []int) error {
	for i, column := range columns {
		at[i] = slices.IndexFunc(row, func(text string) bool { return strings.EqualFold(strings.TrimSpace(text), column) })
		if at[i] < 0 {
			return fmt.Errorf("column %q is missing. The first line must contain the columns %s", column, strings.Join(columns, ", "))
		}
	}
	return nil
}

// add adds the sample of a row. A row with unknown replicas is not a sample. ids has the
// workloads so far, by their text.
func add(into *backtest.Past, ids map[string]workload.ID, source, time, name, replicas string) error {
	at, err := instant(time)
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	n, err := pods(replicas)
	if err != nil {
		return fmt.Errorf("replicas: %w", err)
	}
	id, known := ids[name]
	if !known {
		if id, err = parseID(name); err != nil {
			return err
		}
		ids[strings.Clone(name)] = id
	}
	if n == unknown {
		return nil
	}
	return into.Add(id, source, backtest.Sample{At: at, Pods: n})
}

// parseID parses namespace/name of a Deployment, or namespace/kind/name.
func parseID(text string) (workload.ID, error) {
	if namespace, name, _ := strings.Cut(text, "/"); strings.Count(text, "/") == 1 {
		id := workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}
		return id, id.Validate()
	}
	id, err := workload.ParseID(text)
	switch {
	case strings.Count(text, "/") != 2:
		err = fmt.Errorf("workload %q: must be namespace/name, or namespace/kind/name", text)
	case err == nil && !id.Kind.Scales():
		err = fmt.Errorf("workload %q: kind must be deployment or statefulset", text)
	}
	return id, err
}
