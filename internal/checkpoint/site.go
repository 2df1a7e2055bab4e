package checkpoint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Version is the version of the layout and the files below a site's directory
// that this package writes, and the newest that it reads.
const Version = 1

// A Site is the content of site.yaml: whose directory it stands in, and what
// is needed to read the rest of it.
type Site struct {
	Name    string
	Cluster string // which cluster fills the site, for people; "" leaves it out
	Version int    // of the format; 0 is written as Version
	// Kinds are those of the records that gitlatch does not know by itself. Only
	// what a Component says of one is written: its Resource and Ready are not.
	Kinds workload.Kinds
}

const (
	siteAPI    = "gitlatch.dev/v1alpha1"
	siteHeader = `# The site whose checkpoints stand beside this file. Kept by gitlatch.
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

// ParseSite reads site.yaml. The error says what is wrong with it; of a
// file in a newer format only that it is newer.
func ParseSite(data []byte) (Site, error) { return parseSite(siteFile, data) }

func parseSite(file string, data []byte) (Site, error) {
	var s Site
	d := document{file: file}
	f := d.fields("", d.root(data))

	s.Version = int(f.whole("version"))
	if s.Version > Version {
		return Site{}, fmt.Errorf("%s: version: is %d, and this gitlatch reads up to %d: update gitlatch", file, s.Version, Version)
	}
	f.equal("apiVersion", siteAPI)
	f.equal("kind", "Site")
	s.Name = f.text("name")
	if !workload.ValidLabel(s.Name) {
		f.refuse("name", "must be a DNS label, got %q", s.Name)
	}
	if f.has("cluster") {
		s.Cluster = f.text("cluster")
	}
	kinds := d.fields("kinds", f.get("kinds"))
	for _, name := range kinds.keys {
		if s.Kinds == nil {
			s.Kinds = workload.Kinds{}
		}
		if _, known := (workload.Kinds{}).Object(workload.Kind(name)); known || !workload.ValidLabel(name) {
			kinds.refuse(name, "must be a DNS label, and no kind that gitlatch knows by itself")
		}
		s.Kinds[workload.Kind(name)] = kinds.object(name)
	}
	f.refuseRest()
	if len(d.problems) > 0 {
		return Site{}, d.err()
	}
	return s, nil
}

// object returns what a kind is, and notes what is wrong with it.
func (f *fields) object(name string) workload.Object {
	of := f.doc.fields(f.path(name), f.get(name))
	group, version, _ := strings.Cut(of.shaped("apiVersion", workload.APIVersionShape, "a group and version, as in example.com/v1"), "/")
	o := workload.Object{Group: group, Version: version,
		Kind:     of.shaped("kind", workload.ObjectShape, "the kind of an object, as in Worker"),
		Replicas: workload.Field(of.shaped("replicas", workload.ReplicasShape, "a field of a spec, as in .spec.replicas"))}
	of.refuseRest()
	return o
}

// shaped returns the text at a key, and notes where it is not of a shape.
func (f *fields) shaped(key, shape, want string) string {
	before := len(f.doc.problems)
	text := f.text(key)
	if len(f.doc.problems) == before && !regexp.MustCompile(shape).MatchString(text) {
		f.refuse(key, "must be %s, got %q", want, text)
	}
	return text
}
