package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/sanitize"
)

// A Here is what evidence has to be of: the cluster that was read, and what the
// site writes to.
//
// An ignore rule proves something if its object is applied to this cluster, takes
// the site's repository at the site's branch, and is reconciled. Any other object
// proves nothing.
//
// A destination that is not known to be this cluster may still be this cluster. An
// object with such a destination that lists a workload and re-applies its count
// takes away what another object proves for that workload.
//
// An Application of several sources has one rule for all that it applies. One source
// has to be the site's repository, and each that is has to be at the site's branch;
// the workload may come from any of the sources.
//
// A Repository of "" is one of which only a path or an address of this machine is
// known: no object can be told to take it, so that no rule proves anything.
type Here struct {
	// Servers are the addresses, names and ARNs of the cluster, besides the address by
	// which a tool calls the cluster that it runs in. See Called.
	Servers    []string
	Repository string // the URL by which the cluster reaches it
	Branch     string
	// Tip is the commit at the branch, where HEAD has to have led; "" takes HEAD for
	// the branch.
	Tip string
	// Hub is true where Argo CD runs in another cluster, which is then what it calls
	// its own. Destinations are known to be this cluster or others.
	Hub bool
}

// Called returns the cluster that Argo CD also knows by a destination: a name, the
// address of an API server, or the ARN of a cluster of EKS. "" adds none.
func (h Here) Called(destination string) Here {
	switch {
	case destination == "":
		return h
	case !strings.Contains(destination, "://") && !strings.HasPrefix(destination, "arn:"):
		destination = named(destination)
	}
	h.Servers = append(slices.Clone(h.Servers), destination)
	return h
}

// ByHub returns the cluster as the Argo CD of another cluster knows it, by a
// destination as in Called.
func (h Here) ByHub(destination string) Here {
	h.Hub = true
	return h.Called(destination)
}

// named is a destination that is known by its name.
func named(destination string) string { return "name: " + destination }

// An origin is what a tool takes from git.
type origin struct {
	is       string // for people: a URL, or an object
	url      string // "" where that is not known
	revision string // the name of a branch, or what is none
	resolved string // the commit that a revision of HEAD led to; "" is not known
	option   string // the field that names the branch, as a format
}

// unbound returns the first reason why the rules of an applier do not count, without a
// subject; nil if they count.
func (h Here) unbound(a applier) *Finding {
	return cmp.Or(h.otherDestination(a), h.otherRepository(a), h.otherRevision(a), h.notReconciling(a))
}

func (h Here) otherDestination(a applier) *Finding {
	own := func(server string) bool { return address(server) == address(a.server) }
	if a.server == "" || !h.Hub && own(ownServer) || slices.ContainsFunc(h.Servers, own) {
		return nil
	}
	return &Finding{Trap: OtherDestination, Text: fmt.Sprintf("%s applies to %s. doctor cannot confirm that this is the same cluster, so its rules do not count here.", a.name, a.server),
		Fix: "if it is the same cluster, " + a.remedy}
}

func (h Here) otherRepository(a applier) *Finding {
	const fix = "gitlatch doctor --url URL"
	switch is := names(a.origins, func(o origin) string { return o.is }); {
	case h.Repository == "":
		return &Finding{OtherRepository, "", fmt.Sprintf("%s reads %s, and the configuration has no URL at which the cluster reads the site's repository.", a.name, is), fix}
	case !slices.ContainsFunc(a.origins, h.takes):
		return &Finding{OtherRepository, "", fmt.Sprintf("%s reads %s, and the site's repository is %s, so its rules do not count for this site.", a.name, is, place(h.Repository)),
			"if both are the same repository: " + fix}
	}
	return nil
}

func (h Here) otherRevision(a applier) *Finding {
	others := slices.DeleteFunc(slices.Clone(a.origins), func(o origin) bool { return !h.takes(o) || h.follows(o) })
	if len(others) == 0 {
		return nil
	}
	at := ""
	if o := others[0]; o.resolved != "" {
		at = fmt.Sprintf(" (last resolved to %.12s, which is not the tip of the branch)", o.resolved)
	}
	return &Finding{OtherRevision, "", fmt.Sprintf("%s reads %s%s, and the site writes to branch %s.", a.name, names(others, func(o origin) string { return o.revision }), at, h.Branch),
		fmt.Sprintf("set "+others[0].option+" in the source of %s", h.Branch, a.name)}
}

func (Here) notReconciling(a applier) *Finding {
	if a.stopped == "" {
		return nil
	}
	return &Finding{NotReconciling, "", a.name + " does not reconcile, so its rules do not count: " + sanitize.Line(a.stopped) + ".", "correct the cause, and reconcile " + a.name + " again"}
}

// A reason is a text, and whether it applies.
type reason struct {
	applies bool
	text    string
}

// first is the text of the first reason that applies; "" is none.
func first(reasons ...reason) string {
	for _, r := range reasons {
		if r.applies {
			return r.text
		}
	}
	return ""
}

// takes reports whether an origin is the site's repository.
func (h Here) takes(o origin) bool {
	return o.url != "" && h.Repository != "" && place(o.url) == place(h.Repository)
}

// follows reports whether an origin is at the site's branch, by its name or by HEAD.
func (h Here) follows(o origin) bool {
	return strings.TrimPrefix(o.revision, "refs/heads/") == h.Branch || o.revision == head && (h.Tip == "" || o.resolved == h.Tip)
}

// head is the revision that is the repository's own branch, whichever that is.
const head = "HEAD"

// another reports whether an origin is known to be another repository: a folder of
// this one that it names is a namesake.
func (h Here) another(o origin) bool {
	return h.Repository != "" && o.url != "" && !h.takes(o)
}

func names(all []origin, name func(origin) string) string {
	return cmp.Or(strings.Join(slices.Compact(each.Of(all, name)), ", "), "no source")
}
