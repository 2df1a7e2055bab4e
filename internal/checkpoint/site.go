package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Version is the version of the layout and the files of a site's directory that this
// package writes, and the newest that it reads.
const Version = 1

// A Site is the content of site.yaml: the name of the site and the facts that are
// required to read the other files in its directory.
type Site struct {
	Name    string
	Cluster string // the name of the cluster that fills the site, for users; "" omits it
	Version int    // of the format; 0 is written as Version
	// Kinds are the kinds in the checkpoint files that are not built in. Format writes
	// only the fields that a Component uses, so it omits Resource and Ready.
	Kinds workload.Kinds
}

const (
	siteAPI    = "gitlatch.dev/v1alpha1"
	siteHeader = `# The site of the checkpoint files in this directory. gitlatch updates this file.
apiVersion: ` + siteAPI + `
kind: Site
`
)

// Format returns the canonical bytes of site.yaml.
func (s Site) Format() []byte {
	b := fmt.Appendf(nil, "%sname: %q\n", siteHeader, s.Name)
	if s.Cluster != "" {
		b = fmt.Appendf(b, "cluster: %q\n", s.Cluster)
	}
	if s.Version == 0 {
		s.Version = Version
	}
	b = fmt.Appendf(b, "version: %d\n", s.Version)
	if len(s.Kinds) > 0 {
		b = fmt.Append(b, "kinds:\n")
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
		o := s.Kinds[kind]
		b = fmt.Appendf(b, "  %s: {apiVersion: %q, kind: %q, replicas: %q}\n", kind, o.APIVersion(), o.Kind, o.Replicas)
	}
	return b
}

// parseSite parses site.yaml. file is its path, for errors. If the file has a newer
// format, the error reports that alone.
func parseSite(file string, data []byte) (Site, error) {
	var s Site
	r := newReader(file)
	r.Read(data, s.document())
	if s.Version > Version {
		text := fmt.Sprintf("is %d, and this gitlatch reads up to %d. Update gitlatch", s.Version, Version)
		return Site{}, yamldoc.Problem{File: file, Line: r.Line("version"), Path: "version", Text: text}
	}
	if err := r.Err(); err != nil {
		return Site{}, err
	}
	return s, nil
}

// document returns the schema of site.yaml.
func (s *Site) document() yamldoc.Document {
	return yamldoc.Document{APIVersion: siteAPI, Kind: "Site", Object: yamldoc.Fields(
		yamldoc.Required("name", "the name of the site, as in its path", yamldoc.Into(&s.Name, yamldoc.Label)),
		yamldoc.Optional("cluster", "the UID of the site's cluster", yamldoc.Into(&s.Cluster, anyText)),
		yamldoc.Required("version", "the version of the format", yamldoc.Taken(pods, func(text string) { s.Version, _ = strconv.Atoi(text) })),
		yamldoc.Optional("kinds", "the custom kinds in the checkpoint files",
			yamldoc.Map{Must: "a mapping of names to kinds", Empty: true, Entry: s.kind}),
	)}
}

var anyText = yamldoc.Text("^", "text")

// kind returns the schema of a kind's definition.
func (s *Site) kind(name string) (yamldoc.Value, error) {
	if _, known := (workload.Kinds{}).Object(workload.Kind(name)); known || !workload.ValidLabel(name) {
		return nil, errors.New("must be a DNS label, and not a built-in kind")
	}
	var o workload.Object
	return yamldoc.Fields(
		yamldoc.Required("apiVersion", "the group and version of its API, such as example.com/v1",
			yamldoc.Taken(yamldoc.Text(workload.APIVersionShape, "a group and version, such as example.com/v1"), func(text string) { o.Group, o.Version, _ = strings.Cut(text, "/") })),
		yamldoc.Required("kind", "the kind of an object, such as Worker",
			yamldoc.Into(&o.Kind, yamldoc.Text(workload.ObjectShape, "the kind of an object, such as Worker"))),
		yamldoc.Required("replicas", "the field with the desired replicas, such as .spec.replicas",
			yamldoc.Into(&o.Replicas, yamldoc.Text(workload.ReplicasShape, "a field of the spec, such as .spec.replicas"))),
	).With(yamldoc.Rule{Check: func(*yamldoc.Reader, string) {
		s.Kinds = s.Kinds.With(workload.Kinds{workload.Kind(name): o})
	}}), nil
}
