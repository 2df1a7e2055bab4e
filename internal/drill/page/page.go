// Package page renders reports that users open in a browser or read as an email. A report
// is one file of HTML with inline drawings and one style sheet. It has no script, sends no
// request, and works from a disk, a bucket or an email.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"reflect"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

//go:embed static
var static embed.FS

// sheet is the style sheet of all pages.
var sheet = func() string {
	text, err := static.ReadFile("static/page.css")
	if err != nil {
		panic(err) // embedded
	}
	return string(text)
}()

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"percent": term.Percent, "number": number, "some": term.Some, "count": term.Count[int],
	"name": func(n term.Named) workload.ID { return n.ID() }, "dict": dict,
	"width": func(share float64) string { return fmt.Sprintf("%.2f%%", 100*min(1, share)) },
}).Funcs(drillFuncs).ParseFS(static, "static/*.tmpl"))

// number formats an int, an int32 or an int64.
func number(n any) string { return term.Number(reflect.ValueOf(n).Int()) }

// dict returns a map from pairs, for a template with several arguments.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// render returns a page. The content security policy of the page allows its style sheet
// alone.
func render(name, title string, content any) ([]byte, error) {
	sum := sha256.Sum256([]byte(sheet))
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, map[string]any{
		"Title": title, "Style": template.CSS(sheet), "Content": content,
		"Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	})
	if err != nil {
		return nil, fmt.Errorf("write a page: %w", err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(" %"), []byte("\u00a0%")), nil // no line starts with %
}
