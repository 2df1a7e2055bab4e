// Package kubeconfig selects the cluster of a user's kubeconfig. It is separate from
// [github.com/gitlatch/gitlatch/internal/kube] because of its dependencies, which a
// Lambda does not need.
package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// A Choice selects a cluster. The zero value selects the current context of the files
// that kubectl would use.
type Choice struct {
	Path    string // "" is KUBECONFIG, or ~/.kube/config
	Context string // "" is the current context
}

// An Error reports kubeconfig files that do not select a cluster.
type Error struct {
	Files string
	Cause error
}

// Error returns the files and the cause.
func (e *Error) Error() string { return fmt.Sprintf("kubeconfig %s: %v", e.Files, e.Cause) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Load returns the client configuration of the choice. It sends no request to the
// cluster. Its errors have the type Error.
func Load(c Choice) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Path
	config, err := load(rules, c.Context)
	if err != nil {
		return nil, &Error{strings.Join(rules.GetLoadingPrecedence(), string(filepath.ListSeparator)), err}
	}
	return config, nil
}

func load(rules *clientcmd.ClientConfigLoadingRules, context string) (*rest.Config, error) {
	merged, err := rules.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("no such file")
	case err != nil:
		return nil, err
	case len(merged.Contexts) == 0:
		return nil, absence(rules.GetLoadingPrecedence())
	}
	if err := check(merged, context); err != nil {
		return nil, err
	}
	return clientcmd.NewNonInteractiveClientConfig(*merged, context, nil, rules).ClientConfig()
}

// absence returns why the files have no context.
func absence(files []string) error {
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return errors.New("it has no context")
		}
	}
	return errors.New("no such file")
}

// check returns an error if the selected context is missing or incomplete. If the context
// is missing, the error lists the available contexts.
func check(c *api.Config, context string) error {
	there := strings.Join(slices.Sorted(maps.Keys(c.Contexts)), ", ")
	if context == "" {
		context = c.CurrentContext
	}
	if context == "" {
		return fmt.Errorf("no present context; choose one of: %s", there)
	}
	found, ok := c.Contexts[context]
	switch {
	case !ok:
		return fmt.Errorf("no context %q; there are: %s", context, there)
	case c.Clusters[found.Cluster] == nil:
		return fmt.Errorf("context %q: no cluster %q", context, found.Cluster)
	case found.AuthInfo != "" && c.AuthInfos[found.AuthInfo] == nil:
		return fmt.Errorf("context %q: no user %q", context, found.AuthInfo)
	}
	return nil
}
