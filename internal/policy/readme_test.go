package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// TestReadmeTable holds the README's table of levels to what the policy does.
func TestReadmeTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "|---:|---:|---:|---:|---:|---:|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	columns := []Policy{
		{Series: OneTwoFive, Round: RoundUp},
		{Series: R5, Round: RoundUp},
		{Series: R10, Round: RoundUp},
		{Series: OneTwoFive, Round: RoundNearest},
		{Series: R10, Round: RoundHeadroom},
	}
	rows := strings.Split(table, "\n")
	if len(rows) < 5 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		var need, want int32
		cells := strings.Split(strings.ReplaceAll(strings.Trim(row, "| "), ",", ""), " | ")
		fmt.Sscan(cells[0], &need)
		for i, p := range columns {
			fmt.Sscan(cells[i+1], &want)
			of := newRounding(p, checkpoint.Entry{}, workload.Scale{Target: 0.75})
			if got := of.raised(need); got != want {
				t.Errorf("series %s, round %s: %d is declared as %d; the README says %d", p.Series, p.Round, need, got, want)
			}
		}
	}
}

// TestReadmeSaysTheRuleOfRollouts holds the README's words to those that stand beside
// the code, and both to a length that can be read aloud.
func TestReadmeSaysTheRuleOfRollouts(t *testing.T) {
	t.Parallel()
	words := func(file, from, to string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rule, begins := strings.Cut(string(text), from)
		rule, _, ends := strings.Cut(rule, to)
		if !begins || !ends {
			t.Fatalf("%s does not have the rule", file)
		}
		rule = strings.NewReplacer("//", "", "\n- ", "\n", "\n//   - ", "\n").Replace(rule)
		return strings.Join(strings.Fields(rule), " ")
	}
	code := words("rollout.go", "// rule, as users read it:", "\nfunc DecideRollout")
	readme := words("../../README.md", "**Rollouts.**", "Over is what the controller")
	if n := len(strings.Fields(code)); code != readme || n > 290 {
		t.Errorf("%d words beside the code:\n%s\nin the README:\n%s", n, code, readme)
	}
}
