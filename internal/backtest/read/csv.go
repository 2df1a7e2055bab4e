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
		case errors.Is(err, io.EOF) && first:
			return fmt.Errorf("%s is empty. It must contain CSV, or the JSON of Prometheus", name)
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
		at[i] = slices.IndexFunc(row, func(text string) bool { return strings.EqualFold(strings.Trim(text, " \ufeff"), column) })
		if at[i] < 0 {
			return fmt.Errorf("column %q is missing. The first line must contain the columns %s", column, strings.Join(columns, ", "))
		}
	}
	return nil
}

// add adds the sample of a row. ids has the workloads so far, by their text.
func add(into *backtest.Past, ids map[string]workload.ID, source, time, name, replicas string) (err error) {
	id, known := ids[name]
	if !known {
		if id, err = parseID(name); err != nil {
			return err
		}
		ids[strings.Clone(name)] = id
	}
	return sample(into, id, source, time, replicas)
}

// parseID parses namespace/name of a Deployment, or namespace/kind/name.
func parseID(text string) (workload.ID, error) {
	if strings.Count(text, "/") == 1 {
		text = strings.Replace(text, "/", "/"+string(workload.Deployment)+"/", 1)
	}
	id, err := workload.ParseID(text)
	if err == nil && !id.Kind.Scales() {
		err = fmt.Errorf("workload %q: kind must be deployment or statefulset", text)
	}
	return id, err
}
