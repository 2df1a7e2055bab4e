package units_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestASpanHasDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "90s": 90 * time.Second, "26h": 26 * time.Hour, "8d": 192 * time.Hour, "1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute, "500ms": time.Second / 2,
	} {
		if got, err := units.ParseSpan(text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "8", "-1h", "2w", "d", "1h2d", "99999d2500000h", "x", " 8d"} {
		if got, err := units.ParseSpan(text); err == nil || !strings.Contains(err.Error(), "must be a duration such as 5m, 26h or 8d") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// The defaults that help shows are valid input.
func TestASpanIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		0: "", 10 * time.Second: "10s", 100 * time.Second: "1m40s", 10 * time.Minute: "10m", 20 * time.Hour: "20h", 90 * time.Minute: "1h30m", time.Hour + 5*time.Second: "1h0m5s",
	} {
		one := units.Span(span)
		if got := one.String(); got != want {
			t.Errorf("%s: %q, want %q", span, got, want)
		}
		if read, err := units.ParseSpan(one.String()); want != "" && (err != nil || read != span) {
			t.Errorf("%s: read back as %s, %v", span, read, err)
		}
	}
}

func TestAShareHasPercent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"98%": 0.98, "0.98": 0.98, "0": 0, "1": 1, "100%": 1, "0.5%": 0.005} {
		got, err := units.ParseShare(text)
		if err != nil || units.FormatShare(got) != units.FormatShare(want) {
			t.Errorf("%s: %g, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"98": "For percent, write 98%", "1.5": "write 1.5%", "101%": "from 0 to 100 %", "-1": "from 0 to 100 %", "NaN": "a share such as", "": "a share such as", "x%": "a share such as"} {
		if got, err := units.ParseShare(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %g, %v", text, got, err)
		}
	}
}

func TestAMomentIsAnInstantOrAway(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string][2]string{
		"2026-03-02T18:00:00Z": {"02 18:00", "02 18:00"}, "3h": {"02 11:00", "02 05:00"}, "2d": {"04 08:00", "28 08:00"}, "now": {"02 08:00", "02 08:00"},
	} {
		var m units.Moment
		if err := m.Set(text); err != nil || m.After(now).Format("02 15:04") != want[0] || m.Before(now).Format("02 15:04") != want[1] || m.Now() != (text == "now") {
			t.Errorf("%s: %v, %s, %s", text, err, m.After(now), m.Before(now))
		}
	}
	m := units.Moment{}
	if err := m.Set("tomorrow"); err == nil || m.String() != "" {
		t.Errorf("tomorrow: %v, %s", err, m.String())
	}
}

func TestATargetIsANamespaceOrAWorkload(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: "deployment", Name: "web"}
	for _, c := range []struct {
		namespace string
		texts     string
		want      string
		covers    bool // shop/deployment/web
	}{
		{"", "shop", "[shop]", true},
		{"", "shop/web", "[shop/web]", true},
		{"", "shop/deployment/web", "[shop/deployment/web]", true},
		{"", "shop/statefulset/web", "[shop/statefulset/web]", false},
		{"", "web", "[web]", false},
		{"", "pay/web shop/api", "[pay/web shop/api]", false},
		{"shop", "", "[shop]", true},
		{"shop", "web", "[shop/web]", true},
		{"shop", "deployment/web", "[shop/deployment/web]", true},
		{"shop", "shop/web api", "[shop/web shop/api]", true},
		{"", "", "[]", false},
	} {
		got, err := units.ParseTargets(c.namespace, strings.Fields(c.texts))
		covers := false
		for _, one := range got {
			covers = covers || one.Covers(web)
		}
		if err != nil || fmt.Sprint(got) != c.want || covers != c.covers {
			t.Errorf("-n %q %s: %v, %v, covers %v", c.namespace, c.texts, got, err, covers)
		}
	}
	for _, text := range []string{"", "shop/", "/web", "a/b/c/d", "shop//web", "Shop", "shop web"} {
		if got, err := units.ParseTargets("", []string{text}); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
