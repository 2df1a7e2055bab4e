package checkpoint

import (
	"errors"
	"fmt"

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
	return fmt.Appendf(b, "version: %d\n", s.Version)
}

// ParseSite reads site.yaml. The error says all that is wrong with it; of a
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
	f.refuseRest()
	if len(d.problems) > 0 {
		return Site{}, errors.Join(d.problems...)
	}
	return s, nil
}
