package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An ID names one workload within a site. The zero value names none.
type ID struct {
	Namespace string
	Kind      Kind
	Name      string
}

// String returns namespace/kind/name, the form that ParseID reads and that
// marks a scalar in a file edited in place.
func (id ID) String() string { return id.Namespace + "/" + string(id.Kind) + "/" + id.Name }

// Short returns namespace/name, the form for people, in which the kind is left
// to be guessed.
func (id ID) Short() string { return id.Namespace + "/" + id.Name }

// Among reports whether namespaces and workloads choose the ID. Of either, none
// named is all.
func (id ID) Among(namespaces []string, workloads []ID) bool {
	return (len(namespaces) == 0 || slices.Contains(namespaces, id.Namespace)) &&
		(len(workloads) == 0 || slices.Contains(workloads, id))
}

// ParseID reads the form that String writes, and validates what it read.
func ParseID(s string) (ID, error) {
	part := strings.Split(s, "/")
	if len(part) != 3 {
		return ID{}, fmt.Errorf("workload %q: want namespace/kind/name", s)
	}
	id := ID{Namespace: part[0], Kind: Kind(part[1]), Name: part[2]}
	return id, id.Validate()
}

// MarshalText and UnmarshalText let an ID be the key of a map in JSON. What is
// no valid ID is not written, since it could not be read back.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), id.Validate() }

// UnmarshalText reads what MarshalText wrote. See MarshalText.
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

// Names of objects are DNS subdomains, names of namespaces and kinds DNS
// labels (RFC 1123). What passes can be a path element and a ConfigMap key: no
// slash, no "..", no upper case, no underscore. Every name of a fleet is looked at
// several times a tick: by regular expressions that was a tenth of it.
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
	for part := range strings.SplitSeq(s, ".") {
		if !label(part) {
			return false
		}
	}
	return true
}

// LabelShape is the pattern of what ValidLabel accepts, for schemas.
const LabelShape = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

// MustLabel is what ValidLabel accepts, as a phrase after "must be".
const MustLabel = "a DNS label: lower case letters, digits and dashes, at most 63"

// ValidLabel reports whether s is a DNS label of at most 63 characters, as the
// name of a namespace or of a site must be.
func ValidLabel(s string) bool { return len(s) <= 63 && label(s) }

// Validate says what is wrong with an ID that came from outside. Names from a
// cluster or a file are data: they become paths and text only once validated.
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
