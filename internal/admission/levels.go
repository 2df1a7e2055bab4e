package admission

import (
	"cmp"
	"time"
)

// ApplyWithin is the time from a commit until the cluster has its levels. Flux and Argo CD apply a
// commit within minutes; pipelines that run once an hour need more than one hour.
const ApplyWithin = 2 * time.Hour

const (
	// Minor is the first minor version of Kubernetes 1 that serves the policy.
	Minor = 36
	// Identity is the ConfigMap in Namespace with the identity of the site. No namespace of
	// workloads has a name with a dot.
	Identity = "gitlatch.site"
)

// Levels is a reading of the objects of gitlatch in a cluster. The zero value was not read.
type Levels struct {
	Version    Part[int] // the minor version of Kubernetes 1
	Policy     Read
	Bindings   Part[[]map[string]any] // all bindings in the cluster, also of other policies
	ConfigMaps Part[[]ConfigMap]      // all ConfigMaps in Namespace, also with a name that is not a namespace
}

// A Part is one part of a reading: a value that was read, or the reason why it is unknown. The
// zero value was not read.
type Part[T any] struct {
	value T
	read  bool
	why   string
}

// Observed returns a part that was read.
func Observed[T any](value T) Part[T] { return Part[T]{value: value, read: true} }

// Unread returns a part that could not be read, and the reason.
func Unread[T any](why string) Part[T] { return Part[T]{why: why} }

// Value returns the value of the part. read is false if it is unknown.
func (p Part[T]) Value() (value T, read bool) { return p.value, p.read }

// Why returns the reason why the value is unknown; "" if it was read.
func (p Part[T]) Why() string {
	if p.read {
		return ""
	}
	return cmp.Or(p.why, "not read")
}

// A ConfigMap is a ConfigMap in Namespace, with the fields that show which tool applies it.
type ConfigMap struct {
	Name        string
	Data        map[string]string
	Labels      map[string]string
	Annotations map[string]string // without the last applied configuration of kubectl, which repeats Data
	Managers    []Manager         // in the order of the API server
}

// A Manager is a tool that wrote an object.
type Manager struct {
	Name      string
	Operation string    // Apply or Update
	Time      time.Time // of the last write; zero if it is unknown
}

// UnreadLevels returns a reading of the version alone. why is the reason why the other parts
// are unknown.
func UnreadLevels(version Part[int], why string) Levels {
	return Levels{
		Version:    version,
		Policy:     Failed(why),
		Bindings:   Unread[[]map[string]any](why),
		ConfigMaps: Unread[[]ConfigMap](why),
	}
}

// Binding returns the read of the binding of a namespace of workloads.
func (l Levels) Binding(namespace string) Read { return l.binding(BindingName(namespace)) }

func (l Levels) binding(name string) Read {
	all, read := l.Bindings.Value()
	if !read {
		return Failed(l.Bindings.Why())
	}
	return Find(all, name)
}

// Site returns the name of the site in the cluster's Identity; "" if the cluster has no
// identity.
func (l Levels) Site() Part[string] {
	all, read := l.ConfigMaps.Value()
	if !read {
		return Unread[string](l.ConfigMaps.Why())
	}
	for _, c := range all {
		if c.Name == Identity {
			return Observed(c.Data["name"])
		}
	}
	return Observed("")
}
