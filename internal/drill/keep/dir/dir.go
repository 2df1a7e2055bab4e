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
	at := func(name string) string { return filepath.Join(folder, name) }
	links, files, err := keep.Files(d, page, at)
	for _, file := range files {
		if err == nil {
			err = whole.Write(at(file.Name), file.Data)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("keep the drill: %w", err)
	}
	return links, nil
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
