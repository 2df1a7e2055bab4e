package checkpoint

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// For any name of a workload, its Component is YAML that a build reads, with one patch
// of that workload, which sets its level and nothing else.
func FuzzComponent(f *testing.F) {
	f.Add("shop", "web", int32(200), false)
	f.Add("shop", "web.v2", int32(1), true)
	f.Add("sh\"op", "we'b: {}\n- x", int32(0), true)
	f.Fuzz(func(t *testing.T, namespace, name string, replicas int32, own bool) {
		kinds, kind, pointer := workload.Kinds(nil), workload.Deployment, "/spec/replicas"
		if own {
			kind = "worker"
			kinds = workload.Kinds{kind: {Group: "example.com", Version: "v1", Kind: "Worker", Replicas: ".spec.pool.replicas"}}
		}
		id := workload.ID{Namespace: namespace, Kind: kind, Name: name}
		if id.Validate() != nil || Fits(id) != nil || (Entry{Replicas: replicas}).valid(id) != nil {
			return
		}
		record := Record{Namespace: namespace, Entries: map[workload.ID]Entry{id: {Replicas: replicas}}}
		var read struct {
			Kind    string
			Patches []struct {
				Target struct{ Group, Version, Kind, Namespace, Name string }
				Patch  string
			}
		}
		if err := yaml.Unmarshal(record.Component(kinds), &read); err != nil || read.Kind != "Component" || len(read.Patches) != 1 {
			t.Fatalf("of %s it is, %v:\n%s", id, err, record.Component(kinds))
		}
		p := read.Patches[0]
		if p.Target.Namespace != namespace || strings.ReplaceAll(p.Target.Name, "[.]", ".") != name {
			t.Errorf("of %s it patches %+v", id, p.Target)
		}
		if own {
			var merge struct {
				Spec struct{ Pool map[string]int32 }
			}
			if err := json.Unmarshal([]byte(p.Patch), &merge); err != nil || len(merge.Spec.Pool) != 1 || merge.Spec.Pool["replicas"] != replicas {
				t.Errorf("of %s it says %s", id, p.Patch)
			}
			return
		}
		var patch []struct {
			Op, Path string
			Value    int32
		}
		if err := json.Unmarshal([]byte(p.Patch), &patch); err != nil || len(patch) != 1 || patch[0].Op != "add" || patch[0].Path != pointer || patch[0].Value != replicas {
			t.Errorf("of %s it says %s", id, p.Patch)
		}
	})
}
