package gitwire

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// deciding are the hooks by which a repository may decline a push. The others
// only hear of it.
var deciding = []string{"pre-receive", "update", "reference-transaction"}

// declines is a refusal where the repository has a hook that would be asked, had
// git made the push: what its owner does not let in, is not let in by a way past
// the hook.
func (l *local) declines() error {
	folder, err := l.hooks()
	if err != nil {
		return err
	}
	for _, name := range deciding {
		hook := filepath.Join(folder, name)
		if info, err := os.Stat(hook); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return &wire.Refusal{Words: fmt.Sprintf("%s decides about each push, and only git can run it. Use the URL of the repository's server, or remove the hook", hook), Final: true}
		}
	}
	return nil
}

// hooks is the folder that git looks for hooks in, as the repository itself
// configures it. Relative is to where a push runs them.
func (l *local) hooks() (string, error) {
	config, err := l.disk.Config()
	if err != nil {
		return "", fmt.Errorf("read the config of the repository: %w", err)
	}
	folder := config.Raw.Section("core").Option("hookspath")
	if below, ok := strings.CutPrefix(folder, "~/"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, below), err
	}
	switch {
	case folder == "":
		return filepath.Join(l.dir, "hooks"), nil
	case filepath.IsAbs(folder):
		return folder, nil
	}
	return filepath.Join(l.dir, folder), nil
}
