package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// TestHandbookTable compares the handbook's table of levels with the policy.
func TestHandbookTable(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(docs.Text("concepts"), "|---:|---:|---:|---:|---:|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	columns := []Policy{
		{Series: Steps, Round: RoundUp},
		{Series: OneTwoFive, Round: RoundUp},
		{Series: OneTwoFive, Round: RoundNearest},
		{Series: Steps, Round: RoundHeadroom},
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
				t.Errorf("series %s, round %s: %d is declared as %d; the handbook says %d", p.Series, p.Round, need, got, want)
			}
		}
	}
}

// TestHandbookSaysTheRuleOfRollouts compares the rule in the handbook with the one in the
// comment of DecideRollout.
func TestHandbookSaysTheRuleOfRollouts(t *testing.T) {
	t.Parallel()
	words := func(text, from, to string) string {
		_, rule, begins := strings.Cut(text, from)
		rule, _, ends := strings.Cut(rule, to)
		if !begins || !ends {
			t.Fatalf("no rule from %q to %q", from, to)
		}
		rule = strings.NewReplacer("//", "", "\n- ", "\n", "\n//   - ", "\n").Replace(rule)
		return strings.Join(strings.Fields(rule), " ")
	}
	source, err := os.ReadFile("rollout.go")
	if err != nil {
		t.Fatal(err)
	}
	code := words(string(source), "// rule, as users read it:", "\nfunc DecideRollout")
	handbook := words(docs.Text("workloads"), "## The rule", "## Words in the rule")
	if code != handbook {
		t.Errorf("in the code:\n%s\nin the handbook:\n%s", code, handbook)
	}
}
