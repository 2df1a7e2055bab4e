// Package atomicfile replaces files that other programs may read at any time.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the content of a file in one step: a reader sees all of the new content,
// or the old one. Every user may read the file. The temporary file beside it starts with
// a dot and has another extension.
func Write(path string, content []byte) (err error) {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next.Name()) // the first error counts
		}
	}()
	_, err = next.Write(content)
	if err = errors.Join(err, next.Chmod(0o644), next.Sync(), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}
