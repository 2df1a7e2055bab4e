package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/tick"
)

// Formats are the names that Write knows.
func Formats() []string { return []string{"table", "json", "yaml"} }

// Write writes a report in the named format. A table is folded to so many
// columns where it would be wider; 0 is for what is no terminal, where each
// workload has its one line.
func Write(w io.Writer, format string, r tick.Report, columns int) error {
	d := New(r)
	var text bytes.Buffer
	var err error
	switch format {
	case "table":
		return d.table(w, columns)
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
