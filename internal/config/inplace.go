package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// inPlace binds the list of files that gitlatch edits in place. It reports duplicates,
// and the policy file itself.
func inPlace(into *[]string, policyFile string) yamldoc.List {
	list := texts(into, "leave the field out to edit no file", anyText, wrongInPlace)
	list.Rules = []yamldoc.Rule{{
		Check: func(r *yamldoc.Reader, path string) {
			named := firsts{policyFile: -1}
			for i, file := range *into {
				switch before, twice := named.before(i, file); {
				case twice && before < 0:
					r.Report(path, "must not name the policy's file, %s", yamldoc.Quote(file))
				case twice:
					r.Report(path, "must name each file once, got %s again", yamldoc.Quote(file))
				}
			}
		},
		Schema: schema{"uniqueItems": true},
	}}
	return list
}

func wrongInPlace(s string) error {
	inGit := func(name string) bool { return strings.EqualFold(name, ".git") }
	switch {
	case !fs.ValidPath(s) || s == "." || slices.ContainsFunc(strings.Split(s, "/"), inGit) || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("must be the path of a file from the root of the repository, such as apps/shop/values.yaml, got %s", yamldoc.Quote(s))
	case strings.ContainsAny(s, "*?"):
		return fmt.Errorf("must name one file, without a pattern, got %s", yamldoc.Quote(s))
	case s == "checkpoints" || strings.HasPrefix(s, "checkpoints/"):
		return errors.New("must not be below checkpoints/, which only gitlatch writes")
	}
	return nil
}
