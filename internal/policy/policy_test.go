package policy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
)

func TestPresetsAndDefaultsAreValid(t *testing.T) {
	t.Parallel()
	for name, p := range policy.Presets() {
		if p.Name != name {
			t.Errorf("preset %q calls itself %q", name, p.Name)
		}
		if found := p.Problems(); found != nil {
			t.Errorf("preset %q: %v", name, found)
		}
	}
	if got, want := policy.PresetNames(), []string{"closest", "cope"}; !slices.Equal(got, want) {
		t.Errorf("presets are %v, want %v", got, want)
	}
	set := policy.DefaultSet()
	if set.Latch {
		t.Error("a site latches before it is told to")
	}
	if set.Default.Name != "cope" || len(set.Rules) > 0 {
		t.Errorf("a site without policies has %q and %d rules", set.Default.Name, len(set.Rules))
	}
	if found := set.Guards.Problems(); found != nil {
		t.Errorf("the default guards: %v", found)
	}
	cope := policy.Presets()["cope"]
	if cope.HoldDown <= 24*time.Hour {
		t.Error("a daily peak with jitter does not keep its level")
	}
	if closest := policy.Presets()["closest"]; closest.Series.String() != "1-2-5" || closest.Round != policy.RoundNearest || closest.HoldDown != 0 {
		t.Errorf("closest is %s %s with %s", closest.Series, closest.Round, closest.HoldDown)
	}
}

func TestProblemsOfAPolicyAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*policy.Policy)
		want   string // "" for a valid one
	}{
		{"no series", func(p *policy.Policy) { p.Series, p.Margin = policy.Series{}, 0 }, "series: must have at least one level"},
		{"an unknown way of rounding", func(p *policy.Policy) { p.Round = "down" }, `round: must be one of up, nearest, headroom, got "down"`},
		{"no samples", func(p *policy.Policy) { p.HoldUp = 0 }, "hold.up: must be at least 1 sample, got 0"},
		{"one sample", func(p *policy.Policy) { p.HoldUp = 1 }, ""},
		{"a hold in the past", func(p *policy.Policy) { p.HoldDown = -time.Hour }, "hold.down: must not be negative, got -1h0m0s"},
		{"symmetric holds", func(p *policy.Policy) { p.HoldDown = 0 }, ""},
		{"a negative margin", func(p *policy.Policy) { p.Margin = -0.1 }, "margin: must be at least 0 and below 0.5, or levels of series 1-2-5 would be skipped; got -0.1"},
		{"no margin", func(p *policy.Policy) { p.Margin = 0 }, ""},
		{"a margin that skips levels", func(p *policy.Policy) { p.Margin = 0.5 }, "margin: must be at least 0 and below 0.5, or levels of series 1-2-5 would be skipped; got 0.5"},
		{"a margin just below", func(p *policy.Policy) { p.Margin = 0.499 }, ""},
		{"a margin that is no number", func(p *policy.Policy) { p.Margin = math.NaN() }, "margin: must be at least 0 and below 0.5, or levels of series 1-2-5 would be skipped; got NaN"},
		{"an unknown mode of scale", func(p *policy.Policy) { p.Scale = "" }, `scale: must be one of latch, report, ignore, got ""`},
		{"an unknown mode of bounds", func(p *policy.Policy) { p.Bounds = "follow" }, `bounds: must be one of latch, report, ignore, got "follow"`},
		{"an unknown mode of rollouts", func(p *policy.Policy) { p.Rollout = "watch" }, `rollout.mode: must be one of latch, report, ignore, got "watch"`},
		{"a rollout that fails before it begins", func(p *policy.Policy) { p.ProgressDeadline = 0 }, "rollout.progressDeadline: must be above 0, got 0s"},
		{"a rollout that is recorded before it begins", func(p *policy.Policy) { p.RolloutAfter = -1 }, "rollout.after: must not be negative, got -1ns"},
		{"the shortest deadline", func(p *policy.Policy) { p.ProgressDeadline = 1 }, ""},
		{"a rollout that is recorded at once", func(p *policy.Policy) { p.RolloutAfter = 0 }, ""},
		{"the first cut", func(p *policy.Policy) { p.Cut = 1 }, ""},
		{"the last cut", func(p *policy.Policy) { p.Cut = 99 }, ""},
		{"a cut that nothing reaches", func(p *policy.Policy) { p.Cut = 100 }, "rollout.cut: must be from 1 to 99 %, got 100"},
		{"a cut that all reach", func(p *policy.Policy) { p.Cut = 0 }, "rollout.cut: must be from 1 to 99 %, got 0"},
	}
	for _, tt := range tests {
		p := policy.Presets()["cope"]
		p.Series = policy.OneTwoFive
		tt.change(&p)
		if got := told(p.Problems()); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
	if n := len(policy.Policy{Margin: -1, HoldDown: -1}.Problems()); n != 10 {
		t.Errorf("of ten problems %d are told", n)
	}
}

func TestProblemsOfGuardsAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*policy.Guards)
		want   string
	}{
		{"no commits", func(g *policy.Guards) { g.CommitsPerDay = 0 }, "commitsPerDay: must be at least 1, got 0"},
		{"one commit", func(g *policy.Guards) { g.CommitsPerDay = 1 }, ""},
	}
	for _, tt := range tests {
		g := policy.DefaultGuards()
		tt.change(&g)
		if got := told(g.Problems()); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

func told(found []policy.Problem) string {
	var text []string
	for _, p := range found {
		text = append(text, fmt.Sprintf("%s: %s", p.Field, p.Text))
	}
	return strings.Join(text, "; ")
}

func TestSpansReadAsAPersonWritesThem(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0m", 20 * time.Second: "0m", 40 * time.Second: "1m", 10 * time.Minute: "10m", time.Hour: "1h",
		90 * time.Minute: "1h30m", 26 * time.Hour: "26h", 70 * time.Minute: "1h10m", 192 * time.Hour: "192h",
	} {
		if got := policy.Span(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}
