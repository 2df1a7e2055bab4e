package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A live is a workload in the cluster, reduced to the fields that show where its manifest
// comes from. The zero value is a workload that the cluster does not have.
type live struct {
	meta     metav1.ObjectMeta // without the last applied configuration
	created  int32             // the pods of the status; 0 if it is not set
	replicas int32             // of the spec; 1 if it is not set
	template *corev1.PodTemplateSpec
	last     lastApplied
	owners   []metav1.ManagedFieldsEntry // that own the replicas
	applies  bool                        // a tool applies the object server-side
	tracked  bool                        // the object has managed fields
	paused   bool
}

// A lastApplied is the manifest that kubectl and Argo CD note in an annotation when they
// apply client-side.
type lastApplied struct {
	noted    bool
	readable bool   // the annotation could be parsed
	replicas *int32 // nil if the manifest omits them
}

// rolloutController is the manager of Argo Rollouts. It writes the default of 1, as the API
// server does for other kinds, so it is not an owner.
const rolloutController = "rollouts-controller"

// readLive reads a workload from JSON.
func readLive(field workload.Field, data []byte) (live, error) {
	var o struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			Paused   bool                    `json:"paused"`
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
		Status struct {
			Replicas int32 `json:"replicas"`
		} `json:"status"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return live{}, err
	}
	l := live{
		meta: o.Metadata, replicas: 1, created: o.Status.Replicas,
		template: o.Spec.Template, paused: o.Spec.Paused, tracked: len(o.Metadata.ManagedFields) > 0,
	}
	stated, err := replicasOf(field, data)
	if err != nil {
		return live{}, err
	}
	if stated != nil {
		l.replicas = *stated
	}
	if text, noted := o.Metadata.Annotations[corev1.LastAppliedConfigAnnotation]; noted {
		stated, err := replicasOf(field, []byte(text))
		l.last = lastApplied{noted: true, readable: err == nil && json.Valid([]byte(text)), replicas: stated}
		delete(l.meta.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	path := lists.Map(field.Names(), func(name string) string { return "f:" + name })
	for _, m := range o.Metadata.ManagedFields {
		l.applies = l.applies || m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
		owns := m.FieldsV1 != nil && workload.At(m.FieldsV1.GetRawBytes(), path...) != nil
		if owns && m.Subresource != "status" && m.Manager != rolloutController {
			l.owners = append(l.owners, m)
		}
	}
	return l, nil
}

// replicasOf returns the replicas in an object, or nil if it omits them.
func replicasOf(field workload.Field, data []byte) (*int32, error) {
	value := workload.At(data, field.Names()...)
	if value == nil || string(value) == "null" {
		return nil, nil
	}
	n := new(int32)
	err := json.Unmarshal(value, n)
	return n, err
}

// applier returns the first owner of the replicas that applies a manifest server-side.
func (l live) applier() (metav1.ManagedFieldsEntry, bool) {
	return lists.First(l.owners, func(m metav1.ManagedFieldsEntry) bool {
		return m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
	})
}

// managers names the owners of the replicas.
func (l live) managers() string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(lists.Map(l.owners, func(m metav1.ManagedFieldsEntry) string {
		if m.Subresource == "" {
			return fmt.Sprintf("%s (%s)", m.Manager, m.Operation)
		}
		return fmt.Sprintf("%s (%s)", m.Manager, m.Subresource)
	})))), ", ")
}

// writtenBy reports whether a manager whose name starts with a prefix wrote the object.
func writtenBy(meta metav1.ObjectMeta, prefix string) bool {
	return slices.ContainsFunc(meta.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return strings.HasPrefix(m.Manager, prefix) })
}
