package doctor

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// folder returns the ConfigMap with the levels of a namespace. read is false if the
// ConfigMaps could not be read, and found is false if the cluster does not have it.
func (c Cluster) folder(namespace string) (m admission.ConfigMap, found, read bool) {
	all, read := c.Levels.ConfigMaps.Value()
	m, found = lists.First(all, func(one admission.ConfigMap) bool { return one.Name == namespace })
	return m, found, read
}

// metaOf returns the metadata of a ConfigMap, as the objects of tools have it.
func metaOf(m admission.ConfigMap) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: admission.Namespace, Name: m.Name, Labels: m.Labels, Annotations: m.Annotations,
		ManagedFields: lists.Map(m.Managers, func(one admission.Manager) metav1.ManagedFieldsEntry {
			return metav1.ManagedFieldsEntry{Manager: one.Name, Operation: metav1.ManagedFieldsOperationType(one.Operation)}
		})}
}

// folderChain returns the chain of the tools that apply the levels of a namespace.
func (c Cluster) folderChain(m admission.ConfigMap) []link {
	return c.tools.chain(metaOf(m), tracked("", "ConfigMap", admission.Namespace, m.Name))
}

// applied answers whether the cluster gets the level of a workload from git. A tool that applies
// the levels may still have to apply a new one.
func (e *examination) applied(s subject) Answer {
	file := checkpoint.RecordPath(e.Site, s.ID.Namespace)
	apply := "apply it: kubectl apply --server-side -f " + checkpoint.Directory(e.Site)
	object := fmt.Sprintf("ConfigMap %s/%s", admission.Namespace, s.ID.Namespace)
	if other, read := e.Cluster.Levels.Site().Value(); read && other != "" && other != e.Site {
		return Refutes("", "the cluster has the levels of site "+other, "") // otherSite reports it
	}
	m, found, read := e.Cluster.folder(s.ID.Namespace)
	switch {
	case !read:
		return Open(NotRead, "the levels in the cluster are unknown: "+e.Cluster.Levels.ConfigMaps.Why(), remedy(e.Cluster.Levels.ConfigMaps.Why()))
	case !found:
		return Refutes(NotApplied, fmt.Sprintf("%s is in git, but the cluster does not have %s", file, object), apply, Evidence{Object: object})
	}
	key := string(s.ID.Kind) + "." + s.ID.Name
	value, wanted := m.Data[key], strconv.Itoa(int(s.Level))
	evidence := Evidence{Object: object, Field: "data[" + key + "]", Value: value}
	if n := len(m.Managers); n > 0 {
		evidence.At = m.Managers[n-1].Time
	}
	chain := e.Cluster.folderChain(m)
	if len(chain) == 0 {
		if value != wanted {
			return Refutes(NotApplied, fmt.Sprintf("%s has levels that differ from %s, and no tool applies it", object, file), apply, evidence)
		}
		return Shows(object+" has the level in git", evidence)
	}
	answer := e.Cluster.tools.runs(chain)
	changed, known := e.Changed[s.ID]
	if value != wanted && answer.Yes() && (!known || e.Fleet.At.Sub(changed) >= admission.ApplyWithin) {
		answer = Open(NotApplied, fmt.Sprintf("%s still has another level than %s, although a tool applies it", object, file), "check the path and the revision that "+chain[0].ref.String()+" applies")
	}
	answer.evidence = append(answer.evidence, evidence)
	return answer
}

// otherSite reports that the cluster has the identity of another site.
func (e *examination) otherSite() {
	other, read := e.Cluster.Levels.Site().Value()
	if read && other != "" && other != e.Site {
		e.find(OtherSite, admission.Namespace, fmt.Sprintf("ConfigMap %s/%s names site %s, but doctor checks site %s.", admission.Namespace, admission.Identity, other, e.Site),
			"select the cluster of the site with --context, or apply "+checkpoint.Directory(e.Site)+" instead of the other folder")
	}
}
