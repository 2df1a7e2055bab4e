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
		"pages fit their window":                 fit,
		"letters are read in both schemes":       contrast,
		"hostile names are text":                 harmless,
		"a header sorts by keyboard":             sorted,
		"what is typed filters":                  filtered,
		"what is cut is read by the arrows":      readByArrows,
		"a name is nearest to its own point":     nearest,
		"ten thousand workloads sort and scroll": large,
		"everything is reached by keyboard":      reached,
		"all is on paper":                        printed,
		"printed rows have their head":           headed,
		"a printed chart names its workload":     titledOnPaper,
		"narrow rows show their text":            cards,
		"ages are not broken":                    aged,
		"a reason leads to the fix":              explained,
		"rows have their surplus and room":       roomy,
		"most missing pods are first":            worstFirst,
		"screen readers find their way":          labelled,
		"the headline answers":                   answered,
		"lines are chosen by keyboard":           chosen,
		"pods come back as estimated":            grown,
		"pictures of the README":                 pictures,
		"percents are those of the tables":       percents,
	} {
		t.Run(name, func(t *testing.T) { check(t, b) })
	}
}
