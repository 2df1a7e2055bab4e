// Package keep is the port to where the reports of drills are kept, so that the
// next drill can say what changed since. The packages below it are its adapters.
package keep

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A Keeper keeps the reports of drills, by site.
type Keeper interface {
	// Keep keeps a document, with its page where there is one, and returns where.
	// It becomes the site's last only once all of it is there. The document that is
	// kept names these places too, without addresses that open them for anybody.
	Keep(ctx context.Context, d drill.Document, page []byte) ([]drill.Link, error)
	// Last returns the document that was kept last of a site; nil where none was.
	Last(ctx context.Context, site string) (*drill.Document, error)
}

// Latest is the name, below the folder of a site, of the document that was kept
// last.
const Latest = "latest.json"

// Name is what a report of an instant is called in a form: json or html.
func Name(at time.Time, form string) string { return at.UTC().Format("20060102T150405Z") + "." + form }

// Encode returns the bytes of a document as it is kept and printed.
func Encode(d drill.Document) ([]byte, error) {
	data, err := json.MarshalIndent(d, "", "  ")
	return append(data, '\n'), err
}

// A File is one of those that a Keeper puts in place.
type File struct {
	Name string // below the folder of a site
	Type string // of its content, as HTTP has it
	Data []byte
}

// Files are a page, where there is one, the document, and the same as the last
// one, to be put in this order. The document names where the first two are.
func Files(d drill.Document, page []byte, where func(name string) string) ([]drill.Link, []File, error) {
	var files []File
	data, shown := Name(d.At, "json"), Name(d.At, "html")
	d.Links = []drill.Link{{Form: "json", URI: where(data)}}
	if page != nil {
		d.Links = append(d.Links, drill.Link{Form: "html", URI: where(shown)})
		files = append(files, File{shown, "text/html; charset=utf-8", page})
	}
	document, err := Encode(d)
	return d.Links, append(files, File{data, "application/json", document}, File{Latest, "application/json", document}), err
}

// Decode reads a document that was kept. One of another kind is an error.
func Decode(data []byte) (*drill.Document, error) {
	var d drill.Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if want := term.DocumentOf(drill.Kind); d.Document != want {
		return nil, fmt.Errorf("is %s %s, and not %s %s", d.APIVersion, d.Kind, want.APIVersion, want.Kind)
	}
	return &d, nil
}
