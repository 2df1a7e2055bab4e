package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/sanitize"
)

// A Here is the cluster that doctor reads and the repository that the site writes to. A
// rule is valid for a site only if it is from there.
//
// An ignore rule is valid if its object applies to this cluster, reads the site's
// repository at the site's branch, and is reconciled. A rule of any other object does not
// protect replicas.
//
// A destination that doctor cannot confirm may still be this cluster. If an object with
// such a destination lists a workload and overwrites its replicas, the rules of other
// objects do not protect that workload.
//
// The ignore rules of an Application apply to all its sources. At least one source must
// be the site's repository, and every such source must be at the site's branch. The
// workload may come from any source.
//
// Repository is "" if doctor has only a local path or address of the repository. An
// object cannot match this, so no ignore rule is valid.
type Here struct {
	// Servers are the addresses, names and ARNs of the cluster. A tool's own address of
	// its cluster is not included. See Called.
	Servers    []string
	Repository string // the URL at which the cluster reads the repository
	Branch     string
	// Tip is the commit at the branch's tip. A source at HEAD must have resolved to it.
	// If Tip is "", every source at HEAD matches the branch.
	Tip string
	// Hub is true if Argo CD runs in another cluster. Then Argo CD's own cluster is the
	// hub, and each destination is definitely this cluster or another one.
	Hub bool
}

// Called adds a destination under which Argo CD also reaches the cluster: a name, the
// address of an API server, or the ARN of an EKS cluster. "" adds no destination.
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

// named returns the server of a destination that has only a name.
func named(destination string) string { return "name: " + destination }

// An origin is a source in git that a tool reads.
type origin struct {
	is       string // a URL or an object, as findings show it
	url      string // "" if unknown
	revision string // a branch, or another revision such as a tag
	resolved string // the commit that HEAD or an artifact was made from; "" if unknown
	// artifact is true for an OCIRepository or a Bucket, which does not follow a branch.
	artifact bool
	fix      string // the remedy for another revision, as a format with the branch and the applier
}

// orBranch is the remedy if the source of an applier reads the correct branch.
const orBranch = "If it reads the correct branch, set repository.branch in the configuration of gitlatch to that branch"

// unbound returns a finding for the first condition that an applier does not meet,
// without a workload. It returns nil if the applier meets every condition.
func (h Here) unbound(a applier) *Finding {
	return cmp.Or(h.otherDestination(a), h.otherRepository(a), h.otherRevision(a), h.notReconciling(a))
}

func (h Here) otherDestination(a applier) *Finding {
	own := func(server string) bool { return address(server) == address(a.server) }
	if a.server == "" || !h.Hub && own(ownServer) || slices.ContainsFunc(h.Servers, own) {
		return nil
	}
	return &Finding{Trap: OtherDestination, Text: fmt.Sprintf("%s applies to %s. \"gitlatch doctor\" cannot confirm that this destination is the cluster of the site, so the rules of this object do not count.", a.name, a.server),
		Fix: "if it is the same cluster, " + a.remedy}
}

func (h Here) otherRepository(a applier) *Finding {
	const fix = "gitlatch doctor --url URL"
	unknown := func(o origin) bool { return o.artifact && o.url == "" }
	switch is := names(a.origins, func(o origin) string { return o.is }); {
	case h.Repository == "":
		return &Finding{OtherRepository, "", fmt.Sprintf("%s reads %s, but the configuration does not contain the URL at which the cluster reads the site's repository.", a.name, is), fix}
	case slices.ContainsFunc(a.origins, unknown):
		return &Finding{OtherRepository, "", fmt.Sprintf("%s reads %s, which does not show the commit of its files. The rules of this object do not count for the site.", a.name, is),
			"read a GitRepository, or an OCIRepository that \"flux push artifact\" fills with --source and --revision"}
	case !slices.ContainsFunc(a.origins, h.takes):
		return &Finding{OtherRepository, "", fmt.Sprintf("%s reads %s, but the repository of the site is %s. The rules of this object do not count for the site.", a.name, is, place(h.Repository)),
			"if both are the same repository, run: " + fix}
	}
	return nil
}

func (h Here) otherRevision(a applier) *Finding {
	others := slices.DeleteFunc(slices.Clone(a.origins), func(o origin) bool { return !h.takes(o) || h.follows(o) })
	if len(others) == 0 {
		return nil
	}
	at := ""
	if o := others[0]; o.resolved != "" && !o.artifact {
		at = fmt.Sprintf(" (last resolved to %.12s, which is not the tip of the branch)", o.resolved)
	}
	return &Finding{OtherRevision, "", fmt.Sprintf("%s reads %s%s, but gitlatch writes to branch %s. The rules of this object do not count for the site.", a.name, names(others, func(o origin) string { return o.revision }), at, h.Branch),
		fmt.Sprintf(others[0].fix, h.Branch, a.name)}
}

func (Here) notReconciling(a applier) *Finding {
	if a.stopped == "" {
		return nil
	}
	return &Finding{NotReconciling, "", a.name + " does not reconcile (" + sanitize.Line(a.stopped) + "), so its rules do not count for the site.", "correct the cause, and reconcile " + a.name + " again"}
}

// A reason is a text and whether it applies.
type reason struct {
	applies bool
	text    string
}

// first returns the text of the first reason that applies. "" means that no reason
// applies.
func first(reasons ...reason) string {
	r, _ := lists.First(reasons, func(r reason) bool { return r.applies })
	return r.text
}

// takes reports whether an origin is the site's repository.
func (h Here) takes(o origin) bool {
	return o.url != "" && h.Repository != "" && place(o.url) == place(h.Repository)
}

// follows reports whether an origin is at the site's branch: by name, through HEAD, or as
// an artifact of the branch's tip.
func (h Here) follows(o origin) bool {
	if o.artifact {
		return o.resolved != "" && o.resolved == h.Tip
	}
	return strings.TrimPrefix(o.revision, "refs/heads/") == h.Branch || o.revision == head && (h.Tip == "" || o.resolved == h.Tip)
}

// head is the revision for the default branch of a repository.
const head = "HEAD"

// another reports whether an origin is certainly a repository other than the site's, or an
// artifact of another or an unknown commit. Its folders only share their names with folders
// of the site's repository.
func (h Here) another(o origin) bool {
	return h.Repository != "" && (o.url != "" && !h.takes(o) || o.artifact && !h.follows(o))
}

func names(all []origin, name func(origin) string) string {
	return cmp.Or(strings.Join(slices.Compact(lists.Map(all, name)), ", "), "no source")
}
