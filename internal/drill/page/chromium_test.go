//go:build pages

package page_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// One browser shows all pages. Each check also fails on an action that a page may never
// do, such as a request.
func TestInChromium(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	for name, check := range map[string]func(*testing.T, *browser.Browser){
		"pages fit their window":           fit,
		"letters are read in both schemes": contrast,
		"hostile names are text":           harmless,
		"ten thousand workloads scroll":    large,
		"all is on paper":                  printed,
		"printed rows have their head":     headed,
		"narrow rows show their text":      cards,
		"ages are not broken":              aged,
		"a reason leads to the fix":        explained,
		"screen readers find their way":    labelled,
		"pictures of the README":           pictures,
	} {
		t.Run(name, func(t *testing.T) { check(t, b) })
	}
}
