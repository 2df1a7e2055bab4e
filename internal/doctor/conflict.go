package doctor

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// helmClient is the field manager of the command helm. Helm 4 applies with it, and Helm 3
// updates with it.
const helmClient = "helm"

// conflict adds a live workload to conflicts if Helm 4 applies it and another manager has
// written its replicas. The API server records a write through the scale subresource only
// if a manifest states the field.
func (c *Cluster) conflict(kind workload.Kind, o workload.Object, data []byte) {
	var w metav1.PartialObjectMetadata
	if json.Unmarshal(data, &w) != nil {
		return // the placement reports this error
	}
	path := lists.Map(o.Replicas.Names(), func(name string) string { return "f:" + name })
	applied := slices.ContainsFunc(w.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == helmClient && m.Operation == metav1.ManagedFieldsOperationApply
	})
	scaled := slices.ContainsFunc(w.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Subresource == "scale" && m.FieldsV1 != nil && workload.At(m.FieldsV1.GetRawBytes(), path...) != nil
	})
	if applied && scaled {
		c.conflicts[workload.ID{Namespace: w.Namespace, Kind: kind, Name: w.Name}] = true
	}
}

// conflicting reports a workload whose next upgrade with Helm 4 fails.
func (e *examination) conflicting(s subject) {
	if e.Cluster.conflicts[s.ID] {
		e.find(HelmConflict, s.ID.String(), "Helm 4 applied the workload with replicas, and an autoscaler or a user has changed the replicas since. The next \"helm upgrade\" fails with a conflict on "+string(s.object.Replicas)+".",
			"make the chart omit replicas. In many charts, autoscaling.enabled: true in the values does this. Alternatively, run \"helm upgrade --force-conflicts\", which sets the live replicas to the replicas of the chart")
	}
}
