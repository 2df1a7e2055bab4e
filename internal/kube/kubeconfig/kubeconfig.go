// Package kubeconfig selects the cluster of a user's kubeconfig. It is separate from
// [github.com/gitlatch/gitlatch/internal/kube] because of its dependencies, which a
// Lambda does not need.
package kubeconfig

import (
	"cmp"
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

// load loads the files and checks the selected context. client-go itself would use an
// incomplete context as an anonymous user, or look for another configuration.
func load(rules *clientcmd.ClientConfigLoadingRules, context string) (*rest.Config, error) {
	merged, err := rules.Load()
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, of.Err
	}
	if err != nil {
		return nil, err
	}
	context = cmp.Or(context, merged.CurrentContext)
	there := strings.Join(slices.Sorted(maps.Keys(merged.Contexts)), ", ")
	found := merged.Contexts[context]
	switch {
	case there == "" && !slices.ContainsFunc(rules.GetLoadingPrecedence(), exists):
		return nil, errors.New("no such file")
	case there == "":
		return nil, errors.New("the file has no context")
	case found == nil:
		return nil, fmt.Errorf("no context %q; there are: %s", context, there)
	case merged.Clusters[found.Cluster] == nil:
		return nil, fmt.Errorf("context %q: no cluster %q", context, found.Cluster)
	case found.AuthInfo != "" && merged.AuthInfos[found.AuthInfo] == nil:
		return nil, fmt.Errorf("context %q: no user %q", context, found.AuthInfo)
	}
	return clientcmd.NewNonInteractiveClientConfig(*merged, context, nil, rules).ClientConfig()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
