package kube

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

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

// readingOf returns the reading of a workload without its scale and its rollout. unknown
// is why its status cannot be used, or "".
func readingOf(kind workload.Kind, o *metav1.ObjectMeta, unknown string) reading {
	return reading{made: IsPrimary(o), sample: workload.Sample{
		Unknown:     unknown,
		ID:          workload.ID{Namespace: o.Namespace, Kind: kind, Name: o.Name},
		Labels:      workload.LabelsOf(o.Labels),
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

// scaled sets the scale that an object asks for by itself, in a field, and a rollout that
// is over. The API server writes 1 where a manifest states no count; so does this.
func (r *reading) scaled(field workload.Field, o *metav1.ObjectMeta, desired *int32, ready int32) {
	s := &workload.Scale{Desired: ptr.Deref(desired, 1), Ready: ready}
	r.sample.Scale, r.sample.Rollout = s, &workload.Rollout{Desired: s.Desired}
	var owners []*metav1.ManagedFieldsEntry
	tracked := false
	for i := range o.ManagedFields {
		e := &o.ManagedFields[i]
		tracked = tracked || e.Subresource == ""
		if owns(e, field) {
			owners = append(owners, e)
		}
	}
	s.Applied = applied(owners)
	written(s, owners, tracked)
}

// written sets who wrote the count of a scale last. The driver is DrivenByScale if that
// manager, among those who own the count, wrote it through the scale subresource. A
// count that a manifest states as well, at the same second or later, is the manifest's.
//
// If nobody owns the count, because the manifest leaves it out, the API server does not
// note who writes it through the scale subresource. A count other than the 1 that it
// began with was then written so. The writer of a 1 is unknown, and it is unstated.
func written(s *workload.Scale, owners []*metav1.ManagedFieldsEntry, tracked bool) {
	if len(owners) == 0 {
		if tracked && s.Desired != 1 {
			s.Driver = workload.DrivenByScale
		}
		s.Unstated = tracked && s.Desired == 1
		return
	}
	latest := owners[0]
	machine := false
	for _, e := range owners {
		machine = machine || e.Subresource == "scale" && !byHand(e)
		if latest.Time.Before(e.Time) || latest.Time.Equal(e.Time) && e.Subresource != "scale" {
			latest = e
		}
	}
	s.Writer = latest.Manager
	if latest.Subresource == "scale" {
		s.Driver = workload.DrivenByScale
	}
	// The API server keeps no time of what is first written through the scale
	// subresource. Which of two was the later is then unknown.
	switch {
	case !byHand(latest):
	case latest.Time != nil:
		s.Hand, s.Handed = latest.Manager, latest.Time.UTC()
	case !machine:
		s.Hand = latest.Manager
	}
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
func applied(owners []*metav1.ManagedFieldsEntry) string {
	if len(owners) != 1 || owners[0].Operation != metav1.ManagedFieldsOperationApply || owners[0].Subresource != "" {
		return ""
	}
	return owners[0].Manager
}

// owns reports whether an entry is of a writer of the count. Argo Rollouts itself
// writes 1 where none is stated, as the API server does to other kinds: that is
// nobody's.
func owns(e *metav1.ManagedFieldsEntry, field workload.Field) bool {
	if e.Subresource == "status" || e.Manager == argoController {
		return false
	}
	return upTo(e.FieldsV1.GetRawBytes(), field.Names()) != nil
}

// upTo is what is managed as far as the last of some names, each within the one before;
// nil where one is not there.
func upTo(managed []byte, names []string) []byte {
	rest := managed
	for _, name := range names {
		rest = after(rest, `"f:`+name+`"`)
		if rest == nil {
			return nil
		}
	}
	return managed[:len(managed)-len(rest)]
}

// space is what JSON may have between its parts.
const space = " \t\r\n"

// after returns what follows a name in a JSON object, from its value on; nil where
// the object has no such name. It goes no further than the name: to parse what was
// managed took most of the time of a look.
func after(object []byte, name string) []byte {
	object = bytes.TrimLeft(object, space)
	depth := 0
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			begin := i
			for i++; i < len(object) && object[i] != '"'; i++ {
				if object[i] == '\\' {
					i++
				}
			}
			if depth == 1 && i < len(object) && string(object[begin:i+1]) == name {
				if value, ok := bytes.CutPrefix(bytes.TrimLeft(object[i+1:], space), []byte(":")); ok {
					return value
				}
			}
		}
		if depth == 0 {
			return nil // it is no object, or ended
		}
	}
	return nil
}
