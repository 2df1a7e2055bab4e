package doctor

import (
	"cmp"
	"maps"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/repo/ignore"
)

// A gitRepository is a source of Flux, as far as it matters here.
type gitRepository struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Ignore string `json:"ignore"`
	} `json:"spec"`
}

// leavesOut returns what the source of a Kustomization leaves out.
func (c Cluster) leavesOut(k kustomization) ignore.Lines {
	ref := k.Spec.SourceRef
	for _, s := range c.repositories {
		if ref.Kind == "GitRepository" && s.Metadata.Name == ref.Name && s.Metadata.Namespace == cmp.Or(ref.Namespace, k.Metadata.Namespace) {
			return ignore.Parse(s.Spec.Ignore)
		}
	}
	return ignore.Lines{}
}

// takes are the files that a build has of those that were read.
func (b Build) takes(files map[string][]byte) map[string][]byte {
	taken := maps.Clone(files)
	maps.DeleteFunc(taken, func(name string, _ []byte) bool {
		below, inside := strings.CutPrefix(name, b.Dir+"/")
		return b.Leaves.Leaves(name) ||
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
