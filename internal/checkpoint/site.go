package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/admission"
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
	Cluster string // the UID of the cluster that fills the site; "" omits it
	Version int    // of the format; 0 is written as Version
	// Kinds are the kinds in the checkpoint files that are not built in. Format writes the
	// API version and the API name of each kind, and omits its other fields.
	Kinds workload.Kinds
}

// The keys of site.yaml. kindKey is the start of the key of a kind.
const (
	nameKey    = "name"
	clusterKey = "cluster"
	versionKey = "version"
	kindKey    = "kind."
)

const siteHeader = `# The site of the checkpoint files in this directory. gitlatch updates this file.
apiVersion: v1
kind: ConfigMap
metadata:
  name: ` + admission.Identity + `
  namespace: ` + admission.Namespace + `
data:
`

// Format returns the canonical bytes of site.yaml.
func (s Site) Format() []byte {
	if s.Version == 0 {
		s.Version = Version
	}
	facts := map[string]string{nameKey: s.Name, versionKey: strconv.Itoa(s.Version)}
	if s.Cluster != "" {
		facts[clusterKey] = s.Cluster
	}
	for kind, o := range s.Kinds {
		facts[kindKey+string(kind)] = o.APIVersion() + " " + o.Kind
	}
	b := []byte(siteHeader)
	for _, key := range slices.Sorted(maps.Keys(facts)) {
		b = fmt.Appendf(b, "  %s: %q\n", key, facts[key])
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
		path := yamldoc.Child("data", versionKey)
		text := fmt.Sprintf("is %d, and this gitlatch reads up to %d. Update gitlatch", s.Version, Version)
		return Site{}, yamldoc.Problem{File: file, Line: r.Line(path), Path: path, Text: text}
	}
	if err := r.Err(); err != nil {
		return Site{}, err
	}
	return s, nil
}

// document returns the schema of site.yaml.
func (s *Site) document() yamldoc.Document {
	return configMap(admission.Identity, yamldoc.Required("data", "the facts of the site", yamldoc.Map{
		Must:  "a mapping such as {name: prod-eu}",
		Entry: s.fact,
		Rules: []yamldoc.Rule{{Check: func(r *yamldoc.Reader, data string) {
			for _, key := range []string{nameKey, versionKey} {
				if r.Line(yamldoc.Child(data, key)) == 0 {
					r.Report(yamldoc.Child(data, key), "is required")
				}
			}
		}}},
	}))
}

var anyText = yamldoc.Text("^", "text").Bare()

// kindForm is the form of a kind in site.yaml.
var kindForm = yamldoc.Text(`^`+strings.Trim(workload.APIVersionShape, "^$")+` `+strings.Trim(workload.ObjectShape, "^$")+`$`,
	"the API version and the kind of an object, such as example.com/v1 Worker")

// fact returns the schema of the value of a key.
func (s *Site) fact(key string) (yamldoc.Value, error) {
	switch key {
	case nameKey:
		return yamldoc.Into(&s.Name, yamldoc.Label.Bare()), nil
	case clusterKey:
		return yamldoc.Into(&s.Cluster, anyText), nil
	case versionKey:
		return number(&s.Version, pods), nil
	}
	kind, is := strings.CutPrefix(key, kindKey)
	if !is {
		return nil, fmt.Errorf("unknown key. Known keys are %s, %s, %s, and %s with the name of a kind", clusterKey, nameKey, versionKey, kindKey)
	}
	if _, known := (workload.Kinds{}).Object(workload.Kind(kind)); known || !workload.ValidLabel(kind) {
		return nil, errors.New("must be the name of a kind that is a DNS label, and not a built-in kind")
	}
	return yamldoc.Taken(kindForm, func(text string) {
		version, name, _ := strings.Cut(text, " ")
		o := workload.Object{Kind: name}
		o.Group, o.Version, _ = strings.Cut(version, "/")
		s.Kinds = s.Kinds.With(workload.Kinds{workload.Kind(kind): o})
	}), nil
}
