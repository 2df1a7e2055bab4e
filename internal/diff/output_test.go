package diff

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func shop(name string) workload.ID {
	return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
}

func TestColourChangesOnlyHowADiffLooks(t *testing.T) {
	t.Parallel()
	row := func(name string, state State) Row {
		return Row{Decision: policy.Decision{ID: shop(name), Text: strings.Repeat("with many words ", 9)}, State: state}
	}
	d := Report{Named: true}
	d.Rows = []Row{row("web", Pending), row("api", InSync)}
	write := func(s term.Style) string {
		var b bytes.Buffer
		if err := d.Table(&b, s); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain, coloured := write(term.Style{}), write(term.Style{Colour: true})
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	if escape.MatchString(plain) || !escape.MatchString(coloured) {
		t.Errorf("colour is not where it was asked for:\n%q\n%q", plain, coloured)
	}
	if escape.ReplaceAllString(coloured, "") != plain {
		t.Errorf("in colour it says\n%s\nand without\n%s", coloured, plain)
	}
	for line := range strings.Lines(coloured) {
		if strings.Contains(line, "shop/web") && escape.MatchString(line) {
			t.Errorf("what differs is faint: %q", line)
		}
	}
}
