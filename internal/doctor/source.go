package doctor

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/lists"
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

	// artifact is true for the repository that an OCIRepository was made from, and pushed
	// is the commit, or "" if it is unknown.
	artifact bool
	pushed   string
}

// An ociRepository is an OCIRepository of Flux, reduced to the fields that doctor reads.
type ociRepository struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Suspend bool   `json:"suspend"`
		Ignore  string `json:"ignore"`
	} `json:"spec"`
	Status struct {
		fluxStatus
		Artifact struct {
			Metadata map[string]string `json:"metadata"` // the annotations of the artifact
		} `json:"artifact"`
	} `json:"status"`
}

// The annotations that "flux push artifact" sets: the URL of the repository, and the
// revision, for example main@sha1:COMMIT.
const (
	annotationSource   = "org.opencontainers.image.source"
	annotationRevision = "org.opencontainers.image.revision"
)

// repository returns the repository that the artifact was made from.
func (r ociRepository) repository() *gitRepository {
	made := gitRepository{Metadata: r.Metadata, Status: r.Status.fluxStatus, artifact: true}
	made.Spec.URL = r.Status.Artifact.Metadata[annotationSource]
	made.Spec.Suspend, made.Spec.Ignore = r.Spec.Suspend, r.Spec.Ignore
	if _, commit, ok := strings.Cut(r.Status.Artifact.Metadata[annotationRevision], "@sha1:"); ok {
		made.pushed = commit
	}
	return &made
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
// does not exist, or is another kind than a GitRepository or an OCIRepository.
func (c Cluster) repository(ref sourceRef) *gitRepository {
	named := func(o metav1.ObjectMeta) bool { return o.Name == ref.Name && o.Namespace == ref.Namespace }
	if git, ok := lists.First(c.repositories, func(r gitRepository) bool { return named(r.Metadata) }); ok && ref.Kind == "GitRepository" {
		return &git
	}
	if oci, ok := lists.First(c.artifacts, func(r ociRepository) bool { return named(r.Metadata) }); ok && ref.Kind == "OCIRepository" {
		return oci.repository()
	}
	return nil
}

// source returns the filter of the source with a reference. r is nil if Cluster.repository
// returns nil.
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
