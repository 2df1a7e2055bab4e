package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An ID names one workload within a site. The zero value names no workload.
type ID struct {
	Namespace string
	Kind      Kind
	Name      string
}

// String returns namespace/kind/name, the form that ParseID reads.
func (id ID) String() string { return id.Namespace + "/" + string(id.Kind) + "/" + id.Name }

// Short returns namespace/name, the form for readers. It leaves out the kind.
func (id ID) Short() string { return id.Namespace + "/" + id.Name }

// Among reports whether namespaces and workloads both select the ID. An empty list
// selects every ID.
func (id ID) Among(namespaces []string, workloads []ID) bool {
	return (len(namespaces) == 0 || slices.Contains(namespaces, id.Namespace)) &&
		(len(workloads) == 0 || slices.Contains(workloads, id))
}

// ParseID reads the form that String writes, and validates the result.
func ParseID(s string) (ID, error) {
	part := strings.Split(s, "/")
	if len(part) != 3 {
		return ID{}, fmt.Errorf("workload %q: want namespace/kind/name", s)
	}
	id := ID{Namespace: part[0], Kind: Kind(part[1]), Name: part[2]}
	return id, id.Validate()
}

// MarshalText returns the text of String, so that an ID can be the key of a map in JSON.
// It returns an error if the ID is invalid, because UnmarshalText could not read it back.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), id.Validate() }

// UnmarshalText reads the text that MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// Compare orders IDs by namespace, then kind, then name.
func Compare(a, b ID) int {
	return cmp.Or(
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Name, b.Name),
	)
}

// label reports whether s is a DNS label (RFC 1123) of any length. Namespaces and kinds
// are DNS labels, and names of objects are DNS subdomains. A valid name is safe as a path
// element and as a ConfigMap key: it has no slash, "..", upper case or underscore.
//
// A tick checks every name several times. Regular expressions took a tenth of the time of
// a tick.
func label(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != ""
}

func subdomain(s string) bool {
	return !slices.ContainsFunc(strings.Split(s, "."), func(part string) bool { return !label(part) })
}

// LabelShape is the regular expression that ValidLabel implements, for schemas.
const LabelShape = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

// MustLabel describes the strings that ValidLabel accepts, for messages with "must be".
const MustLabel = "a DNS label: lower case letters, digits and dashes, at most 63"

// ValidLabel reports whether s is a DNS label of at most 63 characters. Names of
// namespaces and of sites must be.
func ValidLabel(s string) bool { return len(s) <= 63 && label(s) }

// Validate returns an error if the namespace, kind or name is not valid. Names from a
// cluster or a file are untrusted: use them in paths and text only after Validate.
func (id ID) Validate() error {
	switch {
	case !ValidLabel(id.Namespace):
		return fmt.Errorf("workload %q: namespace must be a DNS label", id)
	case len(id.Kind) > 63 || !label(string(id.Kind)):
		return fmt.Errorf("workload %q: kind must be a DNS label", id)
	case len(id.Name) > 253 || !subdomain(id.Name):
		return fmt.Errorf("workload %q: name must be a DNS subdomain", id)
	}
	return nil
}
