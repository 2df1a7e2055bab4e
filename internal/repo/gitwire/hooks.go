package gitwire

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// deciding are the hooks that can decline a push. git runs other hooks only to notify
// them.
var deciding = []string{"pre-receive", "update", "reference-transaction"}

// declines returns a Refusal if the repository has a hook that git would run before it
// accepts a push. Push writes without git, and must not bypass the hook.
func (l *local) declines() error {
	folder, err := l.hooks()
	if err != nil {
		return err
	}
	for _, name := range deciding {
		hook := filepath.Join(folder, name)
		if info, err := os.Stat(hook); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return &wire.Refusal{Words: fmt.Sprintf("%s decides about each push, and only git can run it", hook), Final: true}
		}
	}
	return nil
}

// hooks returns the folder in which git searches for hooks, according to the
// configuration of the repository. A relative path is relative to the folder in which a
// push runs hooks.
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
