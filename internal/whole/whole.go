// Package whole writes files for whoever reads them at any time.
package whole

import (
	"errors"
	"os"
	"path/filepath"
)

// Write gives a file its content in one step: it is there whole, or as it was
// before. Everyone may read it. What lies beside it meanwhile begins with a dot,
// and has another ending.
func Write(path string, content []byte) (err error) {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next.Name()) // the first error is the one to tell
		}
	}()
	_, err = next.Write(content)
	if err = errors.Join(err, next.Chmod(0o644), next.Sync(), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}
