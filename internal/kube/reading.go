package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The annotations of a workload that gitlatch heeds. They opt out or choose
// among what is configured; none loosens a guard.
const (
	// AnnotationLatch takes the workload out of latching, by any value that is
	// not true: what a person wrote to keep gitlatch away keeps it away.
	AnnotationLatch = "gitlatch.dev/latch"
	// AnnotationPolicy names the configured policy for the workload.
	AnnotationPolicy = "gitlatch.dev/policy"
)

// A reading is one workload as its own object shows it, before it is known
// which autoscaler drives it. Its sample has what the object alone says.
type reading struct {
	sample workload.Sample
	// flight is what finds the templates of a workload on its way from one to
	// another; nil where there is nothing to find.
	flight *flight

	// template is what the workload asks for, kept only where Flagger promotes it
	// or made it.
	template *corev1.PodTemplateSpec
	// made is true of what Flagger made: it is in no manifest.
	made bool
	// available is how many of its pods are, of whichever template.
	available int32
	// promotion is how Flagger promotes the workload, nil where it does not, and
	// primary what it made of it.
	promotion *promotion
	primary   *reading
	// stoodFor is the Deployment that an Argo Rollout stands for; the zero ID is
	// none.
	stoodFor workload.ID
}

func readingOf(kind workload.Kind, o *metav1.ObjectMeta) reading {
	return reading{made: IsPrimary(o), sample: workload.Sample{
		ID:          workload.ID{Namespace: o.Namespace, Kind: kind, Name: o.Name},
		Labels:      o.Labels,
		Policy:      o.Annotations[AnnotationPolicy],
		Terminating: o.DeletionTimestamp != nil,
		OptOut:      OptsOut(o.Annotations),
	}}
}

// OptsOut reports whether annotations take a workload out of latching.
func OptsOut(annotations map[string]string) bool {
	value, there := annotations[AnnotationLatch]
	latch, err := strconv.ParseBool(value)
	return there && (err != nil || !latch)
}

// unobserved says why nothing can be told from a status that speaks of an
// earlier generation of the object; "" where it speaks of this one.
func unobserved(o *metav1.ObjectMeta, observed int64) string {
	if observed >= o.Generation {
		return ""
	}
	return fmt.Sprintf("generation %d is not observed yet", o.Generation)
}

// scaleOf returns the scale that an object asks for by itself. The API server
// writes 1 where a manifest states no count; so does this.
func scaleOf(o *metav1.ObjectMeta, desired *int32, ready int32) *workload.Scale {
	return scaleAt(workload.Replicas, o, ptr.Deref(desired, 1), ready)
}

// scaleAt is scaleOf for a count that stands in a field.
func scaleAt(field workload.Field, o *metav1.ObjectMeta, desired, ready int32) *workload.Scale {
	s := &workload.Scale{Desired: desired, Ready: ready}
	s.Driver, s.Unstated, s.Hand, s.Handed = writer(field, o.ManagedFields, s.Desired)
	s.Applied = applied(field, o.ManagedFields)
	return s
}

// writer returns DrivenByScale where the manager that last wrote among those
// who own the count did it through the scale subresource. A count that a
// manifest states as well, at the same second or later, is the manifest's.
//
// Where nobody owns the count, because the manifest leaves it out, the API
// server does not note who writes it through the scale subresource. A count
// other than the 1 that it began with was then written so; of a 1 nobody can
// tell, and it is unstated.
//
// hand is the tool of a person, where that manager is one, and handed when.
func writer(field workload.Field, entries []metav1.ManagedFieldsEntry, desired int32) (driver workload.Driver, unstated bool, hand string, handed time.Time) {
	var latest *metav1.ManagedFieldsEntry
	tracked, machine := false, false
	for i := range entries {
		e := &entries[i]
		tracked = tracked || e.Subresource == ""
		if !owns(e, field) {
			continue
		}
		machine = machine || e.Subresource == "scale" && !byHand(e)
		if latest == nil || latest.Time.Before(e.Time) || latest.Time.Equal(e.Time) && e.Subresource != "scale" {
			latest = e
		}
	}
	unowned := latest == nil && tracked
	// The API server keeps no time of what is first written through the scale
	// subresource: who of two was the later is not known then.
	switch {
	case latest == nil || !byHand(latest):
	case latest.Time != nil:
		hand, handed = latest.Manager, latest.Time.UTC()
	case !machine:
		hand = latest.Manager
	}
	if latest != nil && latest.Subresource == "scale" || unowned && desired != 1 {
		return workload.DrivenByScale, false, hand, handed
	}
	return workload.DrivenByNothing, unowned, hand, handed
}

// hands are the names that the tools of people write under: kubectl scale, edit
// and patch, k9s, and Lens. What applies a manifest is not among them, nor is
// what nobody knows.
var hands = []string{"kubectl", "kubectl-edit", "kubectl-patch", "k9s", "node-fetch"}

// byHand reports whether an entry is of a person's tool.
func byHand(e *metav1.ManagedFieldsEntry) bool {
	return e.Operation == metav1.ManagedFieldsOperationUpdate && slices.Contains(hands, e.Manager)
}

// applied returns the manager that states the count by an apply, where nobody
// else owns it.
func applied(field workload.Field, entries []metav1.ManagedFieldsEntry) (manager string) {
	for i := range entries {
		e := &entries[i]
		switch {
		case !owns(e, field):
		case manager != "" || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "":
			return ""
		default:
			manager = e.Manager
		}
	}
	return manager
}

// owns reports whether an entry is of a writer of the count. Argo Rollouts itself
// writes 1 where none is stated, as the API server does to other kinds: that is
// nobody's.
func owns(e *metav1.ManagedFieldsEntry, field workload.Field) bool {
	raw, names := e.FieldsV1.GetRawBytes(), field.Names()
	if e.Subresource == "status" || e.Manager == argoController || !bytes.Contains(raw, []byte(`"f:`+names[len(names)-1]+`"`)) {
		return false // most entries, which are long and need no parsing
	}
	return at(raw, "f:", names) != nil
}

// at returns what stands below some names in an object, each with a prefix; nil
// where nothing does.
func at(object json.RawMessage, prefix string, names []string) json.RawMessage {
	for _, name := range names {
		var fields map[string]json.RawMessage
		if json.Unmarshal(object, &fields) != nil || fields[prefix+name] == nil {
			return nil
		}
		object = fields[prefix+name]
	}
	return object
}
