package handbook

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/docs"
)

// document matches a complete document of gitlatch in a code block of a page.
var document = regexp.MustCompile(`(?m)^    apiVersion: gitlatch\.dev/v1alpha1\n(?:    .*\n)+`)

// documents returns the documents of a kind on a page, without the indentation.
func documents(page, kind string) (all []string) {
	for _, text := range document.FindAllString(page, -1) {
		text = strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n    ", "\n"), "\n")
		for _, next := range []string{"\nEOF\n", "\n-- "} { // the end in a command, and in a story
			before, _, cut := strings.Cut(text, next)
			if cut {
				text = before + "\n"
			}
		}
		if strings.Contains(text, "\nkind: "+kind+"\n") {
			all = append(all, text)
		}
	}
	return all
}

// A user can copy each document of a page.
func TestDocumentsOfPagesAreValid(t *testing.T) {
	t.Parallel()
	seen := 0
	check := func(file string, err error) {
		if seen++; err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for file, text := range pages(t) {
		for _, d := range documents(text, config.KindConfig) {
			_, err := config.ParseConfig(file, []byte(d))
			check(file, err)
		}
		for _, d := range documents(text, config.KindPolicy) {
			_, err := config.ParsePolicy(file, []byte(d), 5*time.Minute)
			check(file, err)
		}
		for _, d := range documents(text, config.KindFleet) {
			_, err := config.ParseFleet(file, []byte(d))
			check(file, err)
		}
	}
	if seen < 3 {
		t.Errorf("found %d documents", seen)
	}
}

// The policy on the page of the configuration states the defaults, so that users see them.
func TestThePageStatesTheDefaultsOfThePolicy(t *testing.T) {
	t.Parallel()
	found := documents(docs.Text("config"), config.KindPolicy)
	if len(found) != 1 {
		t.Fatalf("the page has %d policies", len(found))
	}
	stated, err := config.ParsePolicy("config.md", []byte(found[0]), 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	short := "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\npolicies: [{name: others, match: {}}]\n"
	defaults, err := config.ParsePolicy("short", []byte(short), 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(stated, defaults) {
		t.Errorf("the page states\n%+v\nand the defaults are\n%+v", stated, defaults)
	}
}
