package doctor

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A manifest is the knowledge about the replicas in a workload's manifest. The zero value is
// unknown. internal/proof/owners measures the rule on the real tools.
type manifest struct {
	basis Basis
	count *int32 // nil if the manifest omits the replicas, or if the count is unknown
	least int32  // the smallest possible count, if the manifest states one
	omits bool   // valid if basis is Observed
	text  string
	shown Evidence
}

// omitReplicas is the remedy for a manifest that states replicas.
const omitReplicas = "remove replicas from the manifest. Many Helm charts omit the field if autoscaling.enabled is true. Before you remove the field, see \"gitlatch help troubleshooting\""

// manifest returns the knowledge about the manifest of a workload. ignores is the field that
// lets the tool ignore the replicas; "" if no field does.
//
//   - Nobody owns the replicas: the manifest omits them. A scale of an unowned field is not
//     tracked, so this also holds after scales.
//   - A tool's Apply entry owns them: the manifest states the live count, unless the policy
//     raised it when the workload was created.
//   - An Update entry or a scale owns them: the annotation of the last client-side apply has
//     the manifest, unless a tool has applied the object server-side since.
//
// Everything else is unknown. With RespectIgnoreDifferences, Argo CD writes the live count
// into its manifests, so they show nothing.
func (l *live) manifest(name, ignores string) manifest {
	field := Evidence{Object: name, Field: "metadata.managedFields of the replicas"}
	last := Evidence{Object: name, Field: "metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]"}
	switch {
	case l == nil:
		return manifest{text: "the cluster does not have the workload"}
	case !l.tracked:
		return manifest{text: "the workload has no managed fields"}
	case len(l.owners) == 0:
		return manifest{basis: Observed, omits: true, text: "the manifest omits the replicas, because no manager owns them", shown: field}
	case ignores == respected:
		return manifest{text: "the Application of the workload has RespectIgnoreDifferences, so the manifests that it applies have the live replicas"}
	}
	field.Value = l.managers()
	if release := l.meta.Annotations["meta.helm.sh/release-name"]; release != "" {
		return manifest{text: "Helm applies the workload (release " + sanitize.Line(release) + "), and its object does not show the manifest"}
	}
	by, applied := l.applier()
	switch {
	case applied && l.meta.Annotations[admission.Mark] == strconv.Itoa(int(l.replicas)):
		return manifest{basis: Observed, least: min(1, l.replicas), shown: timed(field, by), text: "the manifest states replicas, because " + by.Manager + " applies them. The policy may have raised the count"}
	case applied:
		return manifest{basis: Observed, count: &l.replicas, least: l.replicas, shown: timed(field, by), text: "the manifest states replicas, because " + by.Manager + " applies them"}
	case l.applies || !l.last.noted:
		return manifest{text: fmt.Sprintf("nothing shows whether the manifest states replicas: %s wrote them", l.managers())}
	case !l.last.readable:
		return manifest{text: "the annotation of the last client-side apply cannot be parsed"}
	case l.last.replicas == nil:
		return manifest{basis: Observed, omits: true, shown: last, text: "the annotation of the last client-side apply shows that the manifest omits the replicas"}
	}
	last.Value = term.Some(l.last.replicas)
	return manifest{basis: Observed, count: l.last.replicas, least: *l.last.replicas, shown: last, text: "the annotation of the last client-side apply shows that the manifest sets replicas"}
}

// timed returns evidence with the time of a manager's last write.
func timed(e Evidence, m metav1.ManagedFieldsEntry) Evidence {
	if m.Time != nil {
		e.At = m.Time.UTC()
	}
	return e
}

// see is the remedy for a manifest that the cluster does not show.
const see = "apply the workload server-side with a manifest that omits replicas"

// kept answers whether no tool resets the replicas of a workload after its creation.
func kept(m manifest, ignores string) Answer {
	switch {
	case m.basis == Unknown:
		return Open(ManifestUnknown, m.text, see)
	case m.omits:
		return Shows(m.text, m.shown)
	case ignores != "":
		return Open(ManifestUnknown, m.text+". The tool may ignore them, by "+ignores, omitReplicas, m.shown)
	}
	return Refutes(ReplicasReset, m.text+". The next apply resets the replicas to the number in the manifest", omitReplicas, m.shown)
}

// positive answers whether a manifest states at least 1 replica, or omits the replicas. The
// policy leaves a manifest with 0 replicas alone.
func positive(m manifest) Answer {
	switch {
	case m.basis == Unknown:
		return Open(ManifestUnknown, m.text, see)
	case m.omits || m.least > 0:
		return Shows(m.text, m.shown)
	}
	return Refutes(StatesZero, "the manifest states 0 replicas, which the admission policy leaves alone. A rebuild starts no pods", omitReplicas, m.shown)
}
