package term_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term"
)

func TestTableAlignsItsColumns(t *testing.T) {
	t.Parallel()
	got := term.Table("lrl", []string{"", "pods"}, []string{"größer", "7", "a"}, []string{"b", "10,000", ""})
	want := "            pods\n  größer       7  a\n  b       10,000\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNumberSetsThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := term.Number(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestFoldKeepsANumberWithItsPercent(t *testing.T) {
	t.Parallel()
	got := term.Fold("declared at the milestone 75 %, progressing: 90 % is next", 28)
	if want := []string{"declared at the milestone", "75 %, progressing: 90 % is", "next"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A name that is wider than the line is broken after a / or -, and loses nothing. A URL
// has one line, to be copied.
func TestFoldBreaksLongNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"by Application argocd/payments-production of it":        {"by Application", "argocd/payments-", "production of it"},
		"payments-platform-production/checkout-frontend-canary":  {"payments-platform-", "production/checkout-", "frontend-canary"},
		"see https://git.example.com/platform/fleet/pull/7 soon": {"see", "https://git.example.com/platform/fleet/pull/7", "soon"},
		"averyveryverylongnamewithoutany":                        {"averyveryverylongnamewithoutany"},
	} {
		if got := term.Fold(text, 24); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
}

// If the other columns leave no room, the last column is below them.
func TestRowsOnANarrowTerminal(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"WORKLOAD", "DECISION", "WHY"}, {"shop/web", "pending", "two samples in a row are above it and round to more"}, {"shop/ü", "", "-"}}
	for columns, want := range map[int]string{
		0:  "WORKLOAD  DECISION  WHY|shop/web  pending   two samples in a row are above it and round to more|shop/ü              -",
		44: "WORKLOAD  DECISION  WHY|shop/web  pending   two samples in a row are|                    above it and round to|                    more|shop/ü              -",
		43: "WORKLOAD  DECISION|  WHY|shop/web  pending|  two samples in a row are above it and|  round to more|shop/ü|  -",
	} {
		var all []string
		for _, lines := range term.Rows(rows, columns) {
			all = append(all, lines...)
		}
		if got := strings.Join(all, "|"); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}

// A last column that is not a sentence stays next to the others if it fits.
func TestRowsOfAShortLastColumn(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"WHAT", "USD"}, {"metrics of the site", "2.70"}}
	for columns, want := range map[int]string{
		25: "WHAT                 USD|metrics of the site  2.70",
		24: "WHAT|  USD|metrics of the site|  2.70",
	} {
		if got := strings.Join(slices.Concat(term.Rows(rows, columns)...), "|"); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}

// A document with a MarshalJSON method is as readable as one without.
func TestJSONEscapesNothingThatPeopleRead(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]any{"plain": map[string]string{"text": "100 -> 200 & more"}, "by itself": itself{}} {
		var out bytes.Buffer
		if err := term.JSON(&out, document); err != nil || out.String() != "{\n  \"text\": \"100 -> 200 & more\"\n}\n" {
			t.Errorf("%s: %v, %s", name, err, &out)
		}
	}
}

type itself struct{}

func (itself) MarshalJSON() ([]byte, error) {
	return term.Marshal(map[string]string{"text": "100 -> 200 & more"})
}
