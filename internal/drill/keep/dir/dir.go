// Package dir keeps the reports of drills in a folder.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/keep"
	"github.com/gitlatch/gitlatch/internal/whole"
)

// A Folder keeps reports in <folder>/<site>/.
type Folder string

// Keep writes each file whole or not at all, the last one after all others.
func (f Folder) Keep(_ context.Context, d drill.Document, page []byte) ([]drill.Link, error) {
	folder, err := filepath.Abs(filepath.Join(string(f), d.Site))
	if err != nil {
		return nil, fmt.Errorf("keep the drill: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("keep the drill: %w", err)
	}
	at := func(form string) string { return filepath.Join(folder, keep.Name(d.At, form)) }
	d.Links = []drill.Link{{Form: "json", URI: at("json")}}
	if page != nil {
		d.Links = append(d.Links, drill.Link{Form: "html", URI: at("html")})
	}
	document, err := keep.Encode(d)
	if err != nil {
		return nil, fmt.Errorf("keep the drill: %w", err)
	}
	files := map[string][]byte{at("json"): document}
	if page != nil {
		files[at("html")] = page
	}
	for name, data := range files {
		err = errors.Join(err, whole.Write(name, data))
	}
	if err == nil {
		err = whole.Write(filepath.Join(folder, keep.Latest), document)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the drill: %w", err)
	}
	return d.Links, nil
}

// Last reads the document that was kept last.
func (f Folder) Last(_ context.Context, site string) (*drill.Document, error) {
	name := filepath.Join(string(f), site, keep.Latest)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last drill: %w", err)
	}
	d, err := keep.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read the last drill: %s: %w; move it away", name, err)
	}
	return d, nil
}
