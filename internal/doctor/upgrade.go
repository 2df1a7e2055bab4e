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

// client adds a live workload to clients if the command helm applied it. The value is true
// if Helm 4 applied it and another manager has written its replicas. The API server
// records a write through the scale subresource only if a manifest states the field.
func (c *Cluster) client(kind workload.Kind, o workload.Object, data []byte) {
	var w metav1.PartialObjectMetadata
	if json.Unmarshal(data, &w) != nil {
		return // the placement reports this error
	}
	path := lists.Map(o.Replicas.Names(), func(name string) string { return "f:" + name })
	written := lists.Filter(w.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == helmClient })
	applied := slices.ContainsFunc(written, func(m metav1.ManagedFieldsEntry) bool {
		return m.Operation == metav1.ManagedFieldsOperationApply
	})
	scaled := slices.ContainsFunc(w.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Subresource == "scale" && m.FieldsV1 != nil && workload.At(m.FieldsV1.GetRawBytes(), path...) != nil
	})
	if len(written) > 0 {
		c.clients[workload.ID{Namespace: w.Namespace, Kind: kind, Name: w.Name}] = applied && scaled
	}
}

// omitReplicas is the remedy for a chart that sets replicas.
const omitReplicas = "make the chart omit replicas. In many charts, autoscaling.enabled: true in the values does this"

// upgraded reports a workload whose next upgrade with Helm resets its replicas, or fails
// because of them.
func (e *examination) upgraded(s subject) {
	_, w := e.given(s.ID)
	switch {
	case e.Cluster.clients[s.ID]:
		e.find(HelmConflict, s.ID.String(), "Helm 4 applied the workload with replicas, and an autoscaler or a user has changed the replicas since. The next \"helm upgrade\" fails with a conflict on "+string(s.object.Replicas)+".",
			omitReplicas+". Alternatively, run \"helm upgrade --force-conflicts\", which sets the live replicas to the replicas of the chart")
	case w.Replicas != nil && e.released(s, w.Annotations):
		e.find(ReplicasReset, s.ID.String(), "The chart renders the workload with replicas, so each upgrade of the release sets the live replicas to the replicas of the chart.", omitReplicas)
	}
}

// released reports whether only installations and upgrades of a Helm release apply a
// workload. Flux also applies a HelmRelease between them if it corrects drift.
func (e *examination) released(s subject, annotations map[string]string) bool {
	owners, _ := e.owners(s.ID)
	releases := e.helm(s)
	_, client := e.Cluster.clients[s.ID]
	return len(owners) == 0 && (client || len(releases) > 0) &&
		!slices.ContainsFunc(releases, func(a applier) bool { return a.keeps(s, annotations) != nil })
}
