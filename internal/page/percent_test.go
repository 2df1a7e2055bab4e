package page_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// percents compares the percentages in the pages with those in the tables.
func percents(t *testing.T, b *browser.Browser) {
	text, err := os.ReadFile("static/text.js")
	if err != nil {
		t.Fatal(err)
	}
	shares := []float64{0, 0.0004, 0.001, 0.285, 0.29, 0.95, 0.98, 0.9995, 0.99985, 0.9999999999, 1, 1.234}
	var got []string
	p := b.Open(t, backtested(t, tried(13)), browser.View{})
	p.Do(t, "return page.evaluate(given => {\n"+string(text)+"\nreturn given.map(percent)\n}, given)", shares, &got)
	for i, share := range shares {
		if shown := strings.ReplaceAll(got[i], "\u00a0", " "); shown != term.Percent(share) {
			t.Errorf("%v is %s on a page, and %s in a table", share, shown, term.Percent(share))
		}
	}
}
