package doctor

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A gitRepository is a source of Flux, as far as it matters here.
type gitRepository struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		URL     string `json:"url"`
		Suspend bool   `json:"suspend"`
		Ignore  string `json:"ignore"`
		Ref     struct {
			Branch string `json:"branch"`
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Name   string `json:"name"`
			Commit string `json:"commit"`
		} `json:"ref"`
	} `json:"spec"`
	Status fluxStatus `json:"status"`
}

// A source is what becomes of the repository before a build has it. The zero
// value is all of it.
type source struct {
	// files is true of one that heeds the files of the repository which leave
	// files out; patterns are what it leaves out besides, and go before.
	files    bool
	patterns []gitignore.Pattern
}

// repository is the source of a Kustomization, nil where it is not there or no
// GitRepository.
func (c Cluster) repository(k kustomization) *gitRepository {
	ref := k.Spec.SourceRef
	for i, s := range c.repositories {
		if ref.Kind == "GitRepository" && s.Metadata.Name == ref.Name && s.Metadata.Namespace == cmp.Or(ref.Namespace, k.Metadata.Namespace) {
			return &c.repositories[i]
		}
	}
	return nil
}

// asks are the files that say what is left out of some paths, where the source
// heeds any: one in each folder above them.
func (s source) asks(paths []string) []string {
	if !s.files {
		return nil
	}
	all := []string{sourceIgnore}
	for _, at := range paths {
		for end, letter := range at {
			if letter == '/' {
				all = append(all, path.Join(at[:end], sourceIgnore))
			}
		}
	}
	return all
}

// excludes returns what reports whether a file of those that were read is left out,
// by its path from the root of the repository. Unlike with git, a line can include a
// file below an excluded folder: the last line that matches decides.
func (s source) excludes(files map[string][]byte) func(string) bool {
	patterns := s.patterns
	if s.files {
		patterns = append(ignoreFiles(files), patterns...)
	}
	matcher := gitignore.NewMatcher(patterns)
	return func(file string) bool { return matcher.Match(strings.Split(file, "/"), false) }
}

// takes are the files that a build has of those that were read.
func (b Build) takes(files map[string][]byte) map[string][]byte {
	taken, excluded := maps.Clone(files), b.source.excludes(files)
	maps.DeleteFunc(taken, func(name string, _ []byte) bool {
		below, inside := strings.CutPrefix(name, b.Dir+"/")
		return excluded(name) ||
			inside && (b.Include != "" && !matched(b.Include, below) || b.Exclude != "" && matched(b.Exclude, below))
	})
	return taken
}

// matched reports whether a pattern of an Application's directory matches: a star
// goes through folders, and braces hold what may be instead of each other.
func matched(pattern, name string) bool {
	expression := strings.NewReplacer(`\*`, ".*", `\?`, ".", `\{`, "(?:", `\}`, ")", ",", "|").Replace(regexp.QuoteMeta(pattern))
	ok, err := regexp.MatchString("^(?:"+expression+")$", name)
	return err == nil && ok
}
