package kube

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The annotations of workloads. They opt out, or select a configured policy. An
// annotation never loosens a guard.
const (
	// AnnotationLatch opts the workload out of latching with any value that is not true.
	// A misspelt value therefore also opts out.
	AnnotationLatch = "gitlatch.dev/latch"
	// AnnotationPolicy selects the configured policy for the workload.
	AnnotationPolicy = "gitlatch.dev/policy"
)

// A reading is the data of one workload from its object. Its sample does not include the
// data of autoscalers yet.
type reading struct {
	sample workload.Sample
	// flight is the key to the templates of a workload with a rollout in flight;
	// otherwise nil.
	flight *flight

	// template is the pod template of a workload that Flagger promotes or created;
	// otherwise nil.
	template *corev1.PodTemplateSpec
	// made is true if Flagger created the workload, so that it is not in git.
	made bool
	// available is the number of available pods of all templates.
	available int32
	// promotion is the state of Flagger's promotion of the workload, and primary the
	// workload that Flagger created for it. Both are nil if Flagger does not promote it.
	promotion *promotion
	primary   *reading
	// stoodFor is the Deployment that an Argo Rollout replaces, or the zero ID.
	stoodFor workload.ID
}

// readingOf returns the reading of a workload without scale and rollout. unknown is the
// reason why its status cannot be used, or "".
func readingOf(kind workload.Kind, o *metav1.ObjectMeta, unknown string) reading {
	return reading{made: IsPrimary(o), sample: workload.Sample{
		Unknown:     unknown,
		ID:          workload.ID{Namespace: o.Namespace, Kind: kind, Name: o.Name},
		Labels:      workload.LabelsOf(o.Labels),
		Policy:      o.Annotations[AnnotationPolicy],
		Terminating: o.DeletionTimestamp != nil,
		OptOut:      OptsOut(o.Annotations),
		Mark:        o.Annotations[admission.Mark],
	}}
}

// OptsOut reports whether the annotations opt a workload out of latching.
func OptsOut(annotations map[string]string) bool {
	value, there := annotations[AnnotationLatch]
	latch, err := strconv.ParseBool(value)
	return there && (err != nil || !latch)
}

// unobserved returns the reason why a status cannot be used if it describes an earlier
// generation of the object. Otherwise it returns "".
func unobserved(o *metav1.ObjectMeta, observed int64) string {
	if observed >= o.Generation {
		return ""
	}
	return fmt.Sprintf("generation %d is not observed yet", o.Generation)
}

// scaled sets the scale of the object from a field, and a rollout that is complete. If
// desired is nil it uses 1, the default of the API server.
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
	written(s, owners, tracked)
}

// written sets who last wrote the replica count. The driver is DrivenByScale if that
// manager is an owner of the field and wrote it through the scale subresource. If a
// manifest states the same field in the same second or later, the manifest is the writer.
//
// If the manifest omits the field, the field has no owner, and the API server does not
// record writes through the scale subresource. A replica count other than the default of
// 1 is then such a write. If it is 1, the writer is unknown, and the scale is unstated.
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
	if latest.Subresource == "scale" {
		s.Driver = workload.DrivenByScale
	}
	// The API server records no time for the first write through the scale subresource.
	// If there are two writes, their order is then unknown.
	switch {
	case !byHand(latest):
	case latest.Time != nil:
		s.Hand, s.Handed = latest.Manager, latest.Time.UTC()
	case !machine:
		s.Hand = latest.Manager
	}
}

// hands are the manager names of users' editing tools: kubectl scale, edit and patch,
// k9s, and Lens. The list excludes tools that apply manifests, and unknown managers.
var hands = []string{"kubectl", "kubectl-edit", "kubectl-patch", "k9s", "node-fetch"}

// byHand reports whether a user's tool wrote the entry.
func byHand(e *metav1.ManagedFieldsEntry) bool {
	return e.Operation == metav1.ManagedFieldsOperationUpdate && slices.Contains(hands, e.Manager)
}

// owns reports whether the entry's manager is an owner of the field. Argo Rollouts is not
// an owner: it writes the default of 1, like the API server for other kinds.
func owns(e *metav1.ManagedFieldsEntry, field workload.Field) bool {
	if e.Subresource == "status" || e.Manager == argoController {
		return false
	}
	return upTo(e.FieldsV1.GetRawBytes(), field.Names()) != nil
}

// upTo returns the managed fields up to the last of the nested names, or nil if a name is
// missing.
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

// space is the white space between the parts of JSON.
const space = " \t\r\n"

// after returns the text from the value of a name in a JSON object, or nil if the object
// does not have the name. It stops at the name, because a full parse of the managed
// fields took most of the time of a sample.
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
			return nil // not an object, or its end
		}
	}
	return nil
}
