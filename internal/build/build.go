// Package build reports the version and the build information of the running program.
package build

import (
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// version is the version of a release, which the linker sets: -X
// github.com/gitlatch/gitlatch/internal/build.version=v1.2.3. For other builds it is "",
// and Read uses the version of the module.
var version string

// An Info is the build information of a program.
type Info struct {
	Version  string    `json:"version"`            // "unknown" if the build has no version
	Commit   string    `json:"commit,omitempty"`   // in full; "" if unknown
	Date     time.Time `json:"date,omitzero"`      // of the commit
	Modified bool      `json:"modified,omitempty"` // the files differed from the commit
	Go       string    `json:"go,omitempty"`
	Platform string    `json:"platform,omitempty"` // such as linux/arm64
}

// Read returns the build information of the running program.
func Read() Info {
	found, _ := debug.ReadBuildInfo()
	i := of(version, found)
	i.Go, i.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
	return i
}

func of(version string, found *debug.BuildInfo) Info {
	i := Info{Version: version}
	if found != nil {
		if i.Version == "" {
			i.Version = found.Main.Version
		}
		for _, s := range found.Settings {
			switch s.Key {
			case "vcs.revision":
				i.Commit = s.Value
			case "vcs.time":
				i.Date, _ = time.Parse(time.RFC3339, s.Value) // zero if unknown
			case "vcs.modified":
				i.Modified = s.Value == "true"
			}
		}
	}
	if i.Version == "" {
		i.Version = "unknown"
	}
	return i
}

// String returns the version on one line, with the commit and its date if the build has
// them: "v1.2.3 (1a2b3c4, 2026-03-02T08:00:00Z)".
func (i Info) String() string {
	var more []string
	if i.Commit != "" {
		more = append(more, i.Commit[:min(7, len(i.Commit))])
	}
	if !i.Date.IsZero() {
		more = append(more, i.Date.UTC().Format(time.RFC3339))
	}
	if i.Modified {
		more = append(more, "modified")
	}
	if len(more) == 0 {
		return i.Version
	}
	return i.Version + " (" + strings.Join(more, ", ") + ")"
}
