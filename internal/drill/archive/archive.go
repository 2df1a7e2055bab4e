// Package archive saves the reports of drills, so that the next drill can show what
// changed.
package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
)

// An Archive saves the reports of drills, by site.
type Archive interface {
	// Save saves a document, with its page if there is one, and returns links to them.
	// The document becomes the site's last one only after both are saved. It contains
	// the same links, without the addresses that open them for everyone.
	Save(ctx context.Context, d drill.Document, page []byte) ([]drill.Link, error)
	// Last returns the document that was saved last for a site, or nil.
	Last(ctx context.Context, site string) (*drill.Document, error)
}

// latest is the name of the last document, below the folder of a site.
const latest = "latest.json"

// fileName returns the name of a report at a time, in the form json or html.
func fileName(at time.Time, form string) string {
	return at.UTC().Format("20060102T150405Z") + "." + form
}

// A file is a part of a report.
type file struct {
	name string // below the folder of a site
	mime string
	data []byte
}

// filesOf returns the links to a page, if there is one, and to the document, and the
// files to save in this order: the page, the document, and the document as the last one.
func filesOf(d drill.Document, page []byte, where func(name string) string) ([]drill.Link, []file, error) {
	var files []file
	data, shown := fileName(d.At, "json"), fileName(d.At, "html")
	d.Links = []drill.Link{{Form: "json", URI: where(data)}}
	if page != nil {
		d.Links = append(d.Links, drill.Link{Form: "html", URI: where(shown)})
		files = append(files, file{shown, "text/html; charset=utf-8", page})
	}
	document, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	document = append(document, '\n')
	return d.Links, append(files, file{data, "application/json", document}, file{latest, "application/json", document}), nil
}

// decode reads a saved document. A document of another kind is an error.
func decode(data []byte) (*drill.Document, error) {
	var d drill.Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if want := term.DocumentOf(drill.Kind); d.Document != want {
		return nil, fmt.Errorf("is %s %s, and not %s %s", d.APIVersion, d.Kind, want.APIVersion, want.Kind)
	}
	return &d, nil
}
