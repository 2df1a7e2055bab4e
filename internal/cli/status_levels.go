package cli

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A levelsStatus is the result of the last check that the cluster has the levels in git.
type levelsStatus struct {
	State       string          `json:"state"`             // unchecked, unsupported, differs, unknown or applied
	Checked     time.Time       `json:"checked,omitzero"`  // zero before the first check
	Unknown     []string        `json:"unknown,omitempty"` // reasons of the parts that could not be read
	Site        string          `json:"site,omitempty"`    // another site whose levels the cluster has
	Differences int             `json:"differences"`
	Oldest      []latch.Lasting `json:"oldest,omitempty"` // the differences that lasted longest
}

func newLevelsStatus(a latch.Applied) levelsStatus {
	s := levelsStatus{State: "applied", Checked: a.At, Unknown: a.Unknown, Site: a.Other, Differences: len(a.Oldest) + a.More, Oldest: a.Oldest}
	switch {
	case a.At.IsZero():
		s.State = "unchecked"
	case a.Unsupported:
		s.State = "unsupported"
	case s.Site != "" || s.Differences > 0:
		s.State = "differs"
	case len(s.Unknown) > 0:
		s.State = "unknown"
	}
	return s
}

// levels returns the lines about the levels in the cluster.
func (s siteStatus) levels() (all term.Topics) {
	l := s.Levels
	switch {
	case l.State == "unchecked" && s.Mode == "observe":
		all.Add("levels", "not checked in mode observe")
	case l.State == "unchecked":
		all.Add("levels", "not checked yet")
	case l.State == "unsupported":
		all.Add("levels", "not applied below Kubernetes 1.36. After a rebuild, run \"gitlatch restore --wait\"")
	case l.State == "applied":
		all.Add("levels", "no differences between git and the cluster, checked %s", s.ago(l.Checked))
	case l.Site != "":
		all.Add("levels", "the cluster has the levels of site %s, checked %s", l.Site, s.ago(l.Checked))
	case l.Differences > 0:
		names := lists.Map(l.Oldest, func(d latch.Lasting) string { return d.String() })
		all.Add("levels", "%s between git and the cluster, checked %s: %s", term.Count(l.Differences, "difference"), s.ago(l.Checked), term.Among(names))
	}
	for _, why := range l.Unknown {
		all.Add("levels", "unknown: %s", why)
	}
	return all
}
