package ledger

import (
	"fmt"
	"regexp"
	"strings"
)

// The placeholders in the template of a subject.
const (
	sitePlaceholder    = "{{.Site}}"    // the name of the site
	changesPlaceholder = "{{.Changes}}" // the largest change, and the number of the others
)

// DefaultSubject is the template if the policy does not set one.
const DefaultSubject = "latch(" + sitePlaceholder + "): " + changesPlaceholder

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}*`)

// CheckSubject returns an error, with the remedy, if a template contains an unknown
// placeholder, or would be read as a trailer.
func CheckSubject(template string) error {
	if strings.HasPrefix(template, trailers) {
		return fmt.Errorf("must not start with %s, because gitlatch finds its commits by their trailers. Start with another word", trailers)
	}
	for _, found := range placeholder.FindAllString(template, -1) {
		if found != sitePlaceholder && found != changesPlaceholder {
			return fmt.Errorf("must not contain %s. The placeholders are %s and %s", found, sitePlaceholder, changesPlaceholder)
		}
	}
	return nil
}

// FillSubject returns the subject that a template describes.
func FillSubject(template, site, changes string) string {
	values := strings.NewReplacer(sitePlaceholder, site, changesPlaceholder, changes)
	return values.Replace(template)
}
