package traces

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	workloadColumns = []string{"workload", "story", "driver", "min", "max", "target", "manifest"}
	changeColumns   = []string{"seconds", "workload", "desired", "ready", "updated", "old", "revision", "note"}
)

// span is the first field of the row of workloads.csv with the time that the trace
// covers.
const span = "span"

// Encode writes a trace as two CSV files. The first one has the time that is covered and
// the workloads. The second one has the changes, one workload after the other. A change
// without a rollout in flight and without a note leaves out the fields after ready,
// unless the revision changed.
func (t *Trace) Encode(workloads, changes io.Writer) error {
	w, c := csv.NewWriter(workloads), csv.NewWriter(changes)
	rows := [][]string{
		{span, t.Start.UTC().Format(time.RFC3339), t.WarmUp.String(), t.Length.String()},
		workloadColumns,
	}
	for _, l := range t.Workloads {
		rows = append(rows, []string{
			l.ID.String(), l.Story, string(l.Driver), pods(l.Min), pods(l.Max),
			strconv.FormatFloat(l.Target, 'f', -1, 64), pods(l.Manifest),
		})
	}
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("write workloads: %w", err)
	}

	rows = [][]string{changeColumns}
	for i, row := range t.Changes {
		revision := 1
		for _, s := range row {
			line := []string{strconv.Itoa(int(s.At / time.Second)), strconv.Itoa(i), pods(s.Desired), pods(s.Ready)}
			if s.InFlight() || s.Revision != revision || s.Note != Calm {
				line = append(line, pods(s.Updated), pods(s.Old), strconv.Itoa(s.Revision), string(s.Note))
			}
			revision = s.Revision
			rows = append(rows, line)
		}
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("write changes: %w", err)
	}
	return nil
}

// Decode reads the output of Encode.
func Decode(workloads, changes io.Reader) (*Trace, error) {
	t := &Trace{}
	if err := t.decodeWorkloads(workloads); err != nil {
		return nil, fmt.Errorf("workloads: %w", err)
	}
	if err := t.decodeChanges(changes); err != nil {
		return nil, fmt.Errorf("changes: %w", err)
	}
	return t, nil
}

func (t *Trace) decodeWorkloads(from io.Reader) error {
	rows, err := rowsOf(from)
	if err != nil {
		return err
	}
	if len(rows) < 3 || len(rows[0]) != 4 || rows[0][0] != span || !slices.Equal(rows[1], workloadColumns) {
		return fmt.Errorf("want a row %q, a row of column names and workloads", span)
	}
	var errs [3]error
	t.Start, errs[0] = time.Parse(time.RFC3339, rows[0][1])
	t.WarmUp, errs[1] = time.ParseDuration(rows[0][2])
	t.Length, errs[2] = time.ParseDuration(rows[0][3])
	if err := cmp.Or(errs[:]...); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	for i, row := range rows[2:] {
		l, err := decodeWorkload(row)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+3, err)
		}
		t.Workloads = append(t.Workloads, l)
	}
	if !slices.IsSortedFunc(t.Workloads, func(a, b Workload) int { return workload.Compare(a.ID, b.ID) }) {
		return fmt.Errorf("must be sorted by namespace, kind and name")
	}
	return nil
}

func decodeWorkload(row []string) (l Workload, err error) {
	if len(row) != len(workloadColumns) {
		return l, fmt.Errorf("want %d fields, got %d", len(workloadColumns), len(row))
	}
	var errs [5]error
	l.ID, errs[0] = workload.ParseID(row[0])
	l.Story, l.Driver = row[1], workload.Driver(row[2])
	l.Min, errs[1] = parsePods(row[3])
	l.Max, errs[2] = parsePods(row[4])
	l.Target, errs[3] = strconv.ParseFloat(row[5], 64)
	l.Manifest, errs[4] = parsePods(row[6])
	return l, cmp.Or(errs[:]...)
}

func (t *Trace) decodeChanges(from io.Reader) error {
	rows, err := rowsOf(from)
	if err != nil {
		return err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], changeColumns) {
		return fmt.Errorf("want a row of column names first")
	}
	t.Changes = make([][]Change, len(t.Workloads))
	for i, row := range rows[1:] {
		if err := t.decodeChange(row); err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	for i, row := range t.Changes {
		if len(row) == 0 || row[0].At != 0 {
			return fmt.Errorf("workload %s: want a change at 0", t.Workloads[i].ID)
		}
	}
	return nil
}

func (t *Trace) decodeChange(row []string) error {
	if len(row) != 4 && len(row) != len(changeColumns) {
		return fmt.Errorf("want 4 or %d fields, got %d", len(changeColumns), len(row))
	}
	var errs [7]error
	seconds, err := strconv.Atoi(row[0])
	errs[0] = err
	i, err := strconv.Atoi(row[1])
	if err != nil || i < 0 || i >= len(t.Workloads) {
		return fmt.Errorf("workload %q: want a number below %d", row[1], len(t.Workloads))
	}
	c := Change{At: time.Duration(seconds) * time.Second}
	c.Desired, errs[1] = parsePods(row[2])
	c.Ready, errs[2] = parsePods(row[3])
	c.Updated, c.Revision = c.Desired, 1
	before := t.Changes[i]
	if len(before) > 0 {
		c.Revision = before[len(before)-1].Revision
		if c.At <= before[len(before)-1].At {
			return fmt.Errorf("workload %s: changes must ascend in time", t.Workloads[i].ID)
		}
	}
	if len(row) > 4 {
		c.Updated, errs[3] = parsePods(row[4])
		c.Old, errs[4] = parsePods(row[5])
		c.Revision, errs[5] = strconv.Atoi(row[6])
		c.Note = Note(row[7])
	}
	t.Changes[i] = append(before, c)
	return cmp.Or(errs[:]...)
}

func rowsOf(from io.Reader) ([][]string, error) {
	r := csv.NewReader(from)
	r.FieldsPerRecord = -1
	return r.ReadAll()
}

func pods(n int32) string { return strconv.Itoa(int(n)) }

func parsePods(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err == nil && n < 0 {
		err = fmt.Errorf("%d pods: must not be negative", n)
	}
	return int32(n), err
}
