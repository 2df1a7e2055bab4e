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

// A gitRepository is a GitRepository of Flux, reduced to the fields that doctor reads.
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

// A source filters the files of a repository before a build. The zero value includes
// every file.
type source struct {
	// files is true if .sourceignore files apply. patterns are additional exclusions,
	// which take precedence over those files.
	files    bool
	patterns []gitignore.Pattern
}

// repository returns the source of a reference with its namespace, or nil if the source
// does not exist or is not a GitRepository.
func (c Cluster) repository(ref sourceRef) *gitRepository {
	for i, s := range c.repositories {
		if ref.Kind == "GitRepository" && s.Metadata.Name == ref.Name && s.Metadata.Namespace == ref.Namespace {
			return &c.repositories[i]
		}
	}
	return nil
}

// source returns the filter of the source with a reference. r is nil if the source does
// not exist or is not a GitRepository.
func (r *gitRepository) source(ref sourceRef) source {
	s := source{files: cmp.Or(ref.Kind, "GitRepository") == "GitRepository"}
	if r != nil {
		s.patterns = parseIgnore(nil, r.Spec.Ignore)
	}
	return s
}

// asks returns the .sourceignore files that apply to some paths: one in each folder above
// them. It returns nil if the source ignores such files.
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

// excludes returns a function that reports whether the source excludes a file. The file's
// path is relative to the root. Unlike with git, a pattern can include a file below an
// excluded folder: the last matching pattern decides.
func (s source) excludes(files map[string][]byte) func(string) bool {
	patterns := s.patterns
	if s.files {
		patterns = append(ignoreFiles(files), patterns...)
	}
	matcher := gitignore.NewMatcher(patterns)
	return func(file string) bool { return matcher.Match(strings.Split(file, "/"), false) }
}

// takes returns the files that the build includes.
func (b Build) takes(files map[string][]byte) map[string][]byte {
	taken, excluded := maps.Clone(files), b.source.excludes(files)
	maps.DeleteFunc(taken, func(name string, _ []byte) bool {
		below, inside := strings.CutPrefix(name, b.Dir+"/")
		return excluded(name) ||
			inside && (b.Include != "" && !matched(b.Include, below) || b.Exclude != "" && matched(b.Exclude, below))
	})
	return taken
}

// matched reports whether a directory pattern of an Application matches a name. A star
// also matches slashes, and braces contain alternatives.
func matched(pattern, name string) bool {
	expression := strings.NewReplacer(`\*`, ".*", `\?`, ".", `\{`, "(?:", `\}`, ")", ",", "|").Replace(regexp.QuoteMeta(pattern))
	ok, err := regexp.MatchString("^(?:"+expression+")$", name)
	return err == nil && ok
}
