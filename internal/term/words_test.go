package term_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/term"
)

func TestNoShareBelowOneIsPrintedAsWhole(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{
		1: "100 %", 1.234: "123.4 %", 0.9999999999: "99.9 %", 0.99985: "99.9 %", 0.95: "95 %", 0.29: "29 %", 0.001: "0.1 %", 0: "0 %",
	} {
		if got := term.Percent(share); got != want {
			t.Errorf("%v is %s, want %s", share, got, want)
		}
	}
}
