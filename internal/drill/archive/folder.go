package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/latch/atomicfile"
)

// A Folder saves reports in <folder>/<site>/.
type Folder string

// Save replaces each file in one step, the last document after the others.
func (f Folder) Save(_ context.Context, d drill.Document, page []byte) ([]drill.Link, error) {
	folder, err := filepath.Abs(filepath.Join(string(f), d.Site))
	if err != nil {
		return nil, fmt.Errorf("save the drill: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("save the drill: %w", err)
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	links, files, err := filesOf(d, page, at)
	for _, file := range files {
		if err == nil {
			err = atomicfile.Write(at(file.name), file.data)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("save the drill: %w", err)
	}
	return links, nil
}

// Last reads the last document.
func (f Folder) Last(_ context.Context, site string) (*drill.Document, error) {
	name := filepath.Join(string(f), site, latest)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last drill: %w", err)
	}
	d, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read the last drill: %s: %w; move it away", name, err)
	}
	return d, nil
}
