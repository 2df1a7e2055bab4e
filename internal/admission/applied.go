package admission

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// An Applied is the comparison of the declared levels of a site with a cluster. Each part is
// unknown if it could not be read: the zero value is unknown in each part.
type Applied struct {
	// Supported is true if the cluster has Kubernetes 1.36 or later. If it is false or unknown,
	// the other parts are unknown.
	Supported Part[bool]
	// Other is the site in the cluster's Identity; "" if it is the site itself, or if the
	// cluster has no identity.
	Other Part[string]
	// Differences are the differences of each subject, in the order of their names. A subject
	// without differences has an empty list.
	Differences map[Subject]Part[[]Difference]
}

// A Subject is a kind of object. If some objects of a subject are unknown, all of them are.
type Subject string

// The subjects.
const (
	SubjectPolicy   Subject = "admission policy"
	SubjectBindings Subject = "binding"
	SubjectLevels   Subject = "level"
)

// Subjects returns all subjects, sorted.
func Subjects() []Subject { return []Subject{SubjectPolicy, SubjectBindings, SubjectLevels} }

// A Difference is one object that differs between git and a cluster. Differences can be
// compared with ==.
type Difference struct {
	Subject Subject `json:"subject"`
	Name    string  `json:"name"` // the workload of a level, or the name of the object
	Git     string  `json:"git"`  // the level in git, "absent" without a level, or "present"
	// Cluster is the level in the cluster, "absent", or for another object its difference.
	Cluster string `json:"cluster"`
}

// String returns the difference as a phrase: "level shop/deployment/web (200 in git, absent
// in the cluster)".
func (d Difference) String() string {
	git := d.Git + " in git, "
	if d.Git == present {
		git = ""
	}
	return fmt.Sprintf("%s %s (%s%s in the cluster)", d.Subject, d.Name, git, d.Cluster)
}

// The values of a Difference that are not levels.
const (
	absent  = "absent"
	present = "present"
)

// CompareLevels compares the declared levels of a site with a cluster. kinds are the custom
// kinds of the site. A site without levels needs no policy and no bindings.
//
// The policy differs only if it is absent or does not cover a kind with a level; Compare
// compares it with the file in git.
func CompareLevels(site string, declared map[workload.ID]int32, kinds workload.Kinds, l Levels) Applied {
	minor, read := l.Version.Value()
	switch {
	case !read:
		return uncompared(Unread[bool](l.Version.Why()), l.Version.Why())
	case minor < Minor:
		return uncompared(Observed(false), fmt.Sprintf("Kubernetes 1.%d does not serve the admission policy of gitlatch", minor))
	}
	return Applied{
		Supported: Observed(true),
		Other:     otherSite(site, l),
		Differences: map[Subject]Part[[]Difference]{
			SubjectPolicy:   differing(SubjectPolicy, policyAnswers(declared, kinds, l)),
			SubjectBindings: differing(SubjectBindings, bindingAnswers(declared, l)),
			SubjectLevels:   levelDifferences(declared, kinds, l),
		},
	}
}

// uncompared returns the result for a cluster in which nothing can be compared.
func uncompared(supported Part[bool], why string) Applied {
	a := Applied{Supported: supported, Other: Unread[string](why), Differences: map[Subject]Part[[]Difference]{}}
	for _, subject := range Subjects() {
		a.Differences[subject] = Unread[[]Difference](why)
	}
	return a
}

// otherSite returns the site in the identity of the cluster; "" if it is not another site.
func otherSite(site string, l Levels) Part[string] {
	name, read := l.Site().Value()
	switch {
	case !read:
		return Unread[string](l.ConfigMaps.Why())
	case name == site:
		return Observed("")
	}
	return Observed(name)
}

// policyAnswers returns the answer for the policy, by its name. It is Equal if the policy
// covers each kind that has a level and that a policy can raise.
func policyAnswers(declared map[workload.ID]int32, kinds workload.Kinds, l Levels) map[string]Answer {
	used := map[workload.Kind]bool{}
	for id := range declared {
		used[id.Kind] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(used)) {
		o, known := kinds.Object(kind)
		if !known || !Raises(o) {
			continue
		}
		answer := Covers(kind, o, l.Policy)
		if answer.State != Equal {
			return map[string]Answer{Name: answer}
		}
	}
	return nil
}

// bindingAnswers returns the answers for the bindings of all namespaces with a level and for
// the WatchBinding, by their names.
func bindingAnswers(declared map[workload.ID]int32, l Levels) map[string]Answer {
	answers := map[string]Answer{}
	for id := range declared {
		name := BindingName(id.Namespace)
		_, known := answers[name]
		if !known {
			answers[name] = CompareBinding(id.Namespace, l.Binding(id.Namespace))
		}
	}
	if len(answers) > 0 {
		answers[WatchBinding] = watchAnswer(l)
	}
	return answers
}

// watchFile is a file with the WatchBinding, which is the same for each policy.
var watchFile = sync.OnceValues(Policy{}.Format)

// watchAnswer compares the WatchBinding of a cluster.
func watchAnswer(l Levels) Answer {
	file, err := watchFile()
	if err != nil {
		return Answer{Why: err.Error()}
	}
	return CompareWatchBinding(file, l.binding(WatchBinding))
}

// differing returns the objects that differ. The subject is unknown if an answer is.
func differing(subject Subject, answers map[string]Answer) Part[[]Difference] {
	found := []Difference{}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		answer := answers[name]
		switch answer.State {
		case Unknown:
			return Unread[[]Difference](answer.Why)
		case Absent:
			found = append(found, Difference{subject, name, present, absent})
		case Differs:
			found = append(found, Difference{subject, name, present, answer.Field + " " + answer.Why})
		}
	}
	return Observed(found)
}

// levelDifferences returns the levels that the cluster lacks, has with another value, or has
// although git does not.
func levelDifferences(declared map[workload.ID]int32, kinds workload.Kinds, l Levels) Part[[]Difference] {
	maps, read := l.ConfigMaps.Value()
	if !read {
		return Unread[[]Difference](l.ConfigMaps.Why())
	}
	live := levelsIn(maps, kinds, declared)
	found := []Difference{}
	for id, level := range declared {
		git := strconv.Itoa(int(level))
		value, applied := live[id]
		switch {
		case !applied:
			found = append(found, Difference{SubjectLevels, id.String(), git, absent})
		case value != git:
			found = append(found, Difference{SubjectLevels, id.String(), git, shortened(value)})
		}
	}
	for id, value := range live {
		_, known := declared[id]
		if !known {
			found = append(found, Difference{SubjectLevels, id.String(), absent, shortened(value)})
		}
	}
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.Name, b.Name) })
	return Observed(found)
}

// levelsIn returns the values at the keys of levels, by workload. It ignores all other keys:
// gitlatch's own keys with "_", and kinds and names that no workload of the site has.
func levelsIn(maps []ConfigMap, kinds workload.Kinds, declared map[workload.ID]int32) map[workload.ID]string {
	levels := map[workload.ID]string{}
	for _, c := range maps {
		for key, value := range c.Data {
			kind, name, _ := strings.Cut(key, ".")
			id := workload.ID{Namespace: c.Name, Kind: workload.Kind(kind), Name: name}
			_, latched := declared[id]
			_, known := kinds.Object(id.Kind)
			if latched || known && id.Kind.Scales() && id.Validate() == nil {
				levels[id] = value
			}
		}
	}
	return levels
}

// shortened returns a value from a cluster as a short text. A value that is not a number is
// in quotes.
func shortened(value string) string {
	_, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return yamldoc.Quote(value)
	}
	return value
}
