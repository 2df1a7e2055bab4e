package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Formats are the names that Write knows.
func Formats() []string { return []string{"table", "json", "yaml"} }

// Write writes a report in the named format.
func Write(w io.Writer, format string, r tick.Report) error {
	d := New(r)
	var text bytes.Buffer
	var err error
	switch format {
	case "table":
		return d.table(w)
	case "json":
		lines := json.NewEncoder(&text)
		lines.SetIndent("", "  ")
		lines.SetEscapeHTML(false)
		err = lines.Encode(d)
	case "yaml":
		var all []byte
		all, err = yaml.Marshal(d)
		text.Write(all)
	default:
		err = fmt.Errorf("output %q: must be one of %s", format, strings.Join(Formats(), ", "))
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text.Bytes())
	return err
}

// table is the report for a person: what is not quiet, and a line of counts.
func (d Document) table(out io.Writer) error {
	if d.Held != "" {
		_, err := fmt.Fprintln(out, d.Held+": nothing to do")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WORKLOAD\tREPLICAS\tDECLARED\tDECISION\tWHY")
	for _, w := range d.Workloads {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", w.name(), number(w.Replicas), number(w.Declared), w.decision(), w.why())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, n := range d.Notices {
		fmt.Fprintf(&b, "%s %s: %s\n", n.Kind, n.Subject, n.Text)
	}
	if d.Stop != nil {
		stopped := "lowered"
		if d.Stop.All {
			stopped = "changed"
		}
		fmt.Fprintf(&b, "nothing is %s (%s): %s\n", stopped, d.Stop.Reason, d.Stop.Text)
	}
	if d.Proposal != nil {
		fmt.Fprintf(&b, "proposed %s: %s\n", d.Proposal.URL, d.Proposal.Subject)
	}
	for _, a := range d.Alerts {
		fmt.Fprintf(&b, "alert: %s\n", a)
	}
	switch {
	case d.Commit == nil && d.Mode == "observe":
		b.WriteString("mode is observe: nothing is written to git\n")
	case d.Commit == nil && d.Proposal == nil && slices.ContainsFunc(d.Workloads, func(w Workload) bool { return w.Verdict == string(policy.Cross) }):
		b.WriteString("what crosses could not be committed\n")
	case d.Commit == nil && d.Proposal == nil:
		b.WriteString("no threshold was crossed: no commit\n")
	case d.Commit == nil:
	case d.DryRun:
		fmt.Fprintf(&b, "would commit: %s\n", d.Commit.Subject)
	default:
		fmt.Fprintf(&b, "commit %s: %s\n", d.Commit.ID, d.Commit.Subject)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// name is the workload as people call it; only what is no Deployment says its
// kind.
func (w Workload) name() string {
	if w.Kind == "deployment" {
		return w.Namespace + "/" + w.Name
	}
	return w.Namespace + "/" + w.Kind + "/" + w.Name
}

func (w Workload) decision() string {
	if w.Verdict == "cross" && w.To != nil {
		return "cross to " + number(w.To)
	}
	return w.Verdict
}

func (w Workload) why() string {
	why := w.Text
	if w.Mismatch != nil {
		why += fmt.Sprintf("; live bounds %d to %d differ from git's", w.Mismatch.Min, w.Mismatch.Max)
	}
	if w.Capped {
		why += "; capped by git"
	}
	return why
}

func number(n *int32) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(int(*n))
}
