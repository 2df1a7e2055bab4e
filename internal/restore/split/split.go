// Package split says how a rollout that was lost half-way comes back half-way:
// by a seed, which is a ReplicaSet of the template before that nothing owns,
// made in a rebuilt cluster before its Deployment is. The Deployment then adopts
// it, and the rolling update goes on from there. It is values in and values out.
package split

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Source is objects that a rebuild creates.
type Source struct {
	Name string // as a message names it: "apps/shop"
	// Namespace is where objects go that state none; "" is default.
	Namespace string
	Objects   []json.RawMessage
}

// Options narrow what is seeded. The zero value seeds all that can be.
type Options struct {
	Namespaces []string
	Workloads  []workload.ID
}

// A Candidate is a Deployment that was lost in a rollout, and the manifest by
// which a rebuild creates it.
type Candidate struct {
	ID       workload.ID
	Entry    checkpoint.Entry
	Manifest json.RawMessage // with its namespace
	// Utilisation is what its autoscaler aims at, as a fraction; 0 is not known.
	Utilisation float64
}

// A Seed is a ReplicaSet to make. Its counts are in pods.
type Seed struct {
	ID       workload.ID `json:"workload"`
	Name     string      `json:"replicaSet"`
	Reached  int32       `json:"reached"`  // of the rollout, in percent, as the record has it
	Replicas int32       `json:"replicas"` // with which the Deployment would be created
	Pods     int32       `json:"before"`   // of the template before, which the seed asks for
	// Target is how many pods of the target the Deployment asks for at once, and
	// Surge how many of them are beyond its replicas.
	Target int32 `json:"target"`
	Surge  int32 `json:"surge"`
	// Halted is true of a rollout that somebody had halted, and that goes on now.
	Halted bool `json:"halted,omitempty"`
	// Object is the ReplicaSet.
	Object json.RawMessage `json:"-"`
}

// A Standing is a seed that is in the cluster.
type Standing struct {
	Namespace string `json:"-"`
	Name      string `json:"-"`
	Pods      int32  `json:"pods"`
	Ready     int32  `json:"ready"`
	Adopter   string `json:"adopter,omitempty"` // the name of the Deployment that owns it; "" is nobody
	UID       string `json:"-"`                 // of the object, as it was read, and its version
	Version   string `json:"-"`
}

// MarshalJSON names the ReplicaSet with its namespace.
func (s Standing) MarshalJSON() ([]byte, error) {
	type counts Standing
	return term.Marshal(struct {
		ReplicaSet string `json:"replicaSet"`
		counts
	}{s.Namespace + "/" + s.Name, counts(s)})
}

// A Left is a rollout of the record that is left for a person to decide.
type Left struct {
	ID     workload.ID `json:"workload"`
	Reason Reason      `json:"reason"`
	Text   string      `json:"text"` // a phrase
}

// A Reason is why a rollout is left.
type Reason string

// The reasons.
const (
	NoRollout   Reason = "no-rollout"   // the record has none
	Unadoptable Reason = "unadoptable"  // its kind adopts nothing
	Unknown     Reason = "unknown"      // the record does not hold the template before
	Unbuilt     Reason = "unbuilt"      // no source creates it
	Ambiguous   Reason = "ambiguous"    // two sources create it, and differ
	Promoted    Reason = "promoted"     // by Flagger
	There       Reason = "there"        // the Deployment exists
	NoNamespace Reason = "no-namespace" // it does not exist yet
	Taken       Reason = "taken"        // another ReplicaSet has the name
	Returned    Reason = "returned"     // a policy puts the images before in
	OtherTarget Reason = "other-target" // created otherwise than recorded
	Recreate    Reason = "recreate"     // its strategy
	Paused      Reason = "paused"       // in its manifest
	Small       Reason = "small"        // it would be created below its level
)

// Find returns the Deployments that were lost in a rollout, and what of the
// record is left, each in the order of workload.Compare. Of workloads that are
// not named, those without a rollout are none of its business.
func Find(record map[workload.ID]checkpoint.Entry, sources []Source, o Options) (found []Candidate, left []Left, err error) {
	built, err := read(sources)
	if err != nil {
		return nil, nil, err
	}
	for id, e := range record {
		named := slices.Contains(o.Workloads, id)
		if !id.Among(o.Namespaces, o.Workloads) || e.Rollout == (checkpoint.Rollout{}) && !named {
			continue
		}
		if why, is := built.refuses(id, e); is {
			left = append(left, why)
			continue
		}
		m := built.of[id]
		found = append(found, Candidate{ID: id, Entry: e, Manifest: m[0].object, Utilisation: built.utilisation[id]})
	}
	slices.SortFunc(found, func(a, b Candidate) int { return workload.Compare(a.ID, b.ID) })
	slices.SortFunc(left, func(a, b Left) int { return workload.Compare(a.ID, b.ID) })
	return found, left, nil
}

// refuses says why a workload of the record cannot be seeded, whatever the
// cluster is like.
func (b built) refuses(id workload.ID, e checkpoint.Entry) (Left, bool) {
	m, r := b.of[id], e.Rollout
	because := func(reason Reason, format string, args ...any) (Left, bool) {
		return Left{id, reason, fmt.Sprintf(format, args...)}, true
	}
	switch {
	case r == checkpoint.Rollout{}:
		return because(NoRollout, "has no rollout in the record")
	case id.Kind != workload.Deployment:
		return because(Unadoptable, "is a %s: only a Deployment adopts what is seeded; create it with the template before, and let it roll out", id.Kind)
	case !r.ImagesOnly:
		return because(Unknown, "has templates that differ in more than images, which are all that the record has of the one before")
	case r.From.Images == "" || r.To.Images == "":
		return because(Unknown, "has no images in the record")
	case len(m) == 0:
		return because(Unbuilt, "is created by nothing that was built: name its folder by --path, or give its manifests by --manifests")
	case len(m) > 1:
		return because(Ambiguous, "is built by %s and by %s, which differ: name one of them by --path", m[0].by, m[1].by)
	case b.promoted[id]:
		return because(Promoted, "is promoted by Flagger, which begins with whatever template there is")
	}
	return Left{}, false
}
