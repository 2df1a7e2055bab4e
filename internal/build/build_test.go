package build

import (
	"runtime/debug"
	"testing"
)

func TestABuildSaysWhatItIsOf(t *testing.T) {
	t.Parallel()
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "1a2b3c4d5e6f"}, {Key: "vcs.time", Value: "2026-03-02T08:00:00Z"}}
	dirty := append(settings[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for _, c := range []struct {
		version string
		found   *debug.BuildInfo
		want    string
	}{
		{"", nil, "unknown"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}, Settings: settings}, "v0.9.0 (1a2b3c4, 2026-03-02T08:00:00Z)"},
		{"v1.2.3", &debug.BuildInfo{Main: debug.Module{Version: "v0.9.0"}, Settings: dirty}, "v1.2.3 (1a2b3c4, 2026-03-02T08:00:00Z, modified)"},
		{"v1.2.3", &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "1a2"}, {Key: "vcs.time", Value: "soon"}}}, "v1.2.3 (1a2)"},
	} {
		if got := of(c.version, c.found).String(); got != c.want {
			t.Errorf("%q, %+v: %s, want %s", c.version, c.found, got, c.want)
		}
	}
	if i := Read(); i.Go == "" || i.Platform == "" || i.Version == "" {
		t.Errorf("%+v", i)
	}
}
