package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// defined is a cluster with only the CustomResourceDefinition of workers. "" is a cluster
// that forbids reading it.
type defined string

func (defined) List(context.Context, string, string, string) ([]json.RawMessage, error) {
	return nil, nil
}

func (defined) ReadLevels(context.Context) admission.Levels { return admission.Levels{} }

func (d defined) Get(_ context.Context, path string) (json.RawMessage, error) {
	if d == "" || path != "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workers.example.com" {
		return nil, errors.New("forbidden")
	}
	return yaml.YAMLToJSON([]byte(d))
}

const defines defined = `
spec:
  versions:
  - {name: v1alpha1}
  - name: v1
    subresources: {scale: {specReplicasPath: .spec.pool.size}}
    schema:
      openAPIV3Schema:
        properties:
          spec: {properties: {pool: {properties: {size: {type: integer}}}}}
          status: {properties: {replicas: {type: integer}, pools: {x-kubernetes-preserve-unknown-fields: true}}}
`

// worker is the kind that defines describes.
var worker = workload.Object{Group: "example.com", Version: "v1", Kind: "Worker", Resource: "workers", Replicas: ".spec.pool.size", Ready: ".status.replicas"}

func TestAKindIsComparedWithWhatDefinesIt(t *testing.T) {
	t.Parallel()
	edit := func(old, by string) defined { return defined(strings.Replace(string(defines), old, by, 1)) }
	for name, c := range map[string]struct {
		defined defined
		of      func(*workload.Object)
		want    []string
		denied  bool
	}{
		"as it is":            {defines, func(*workload.Object) {}, nil, false},
		"not to be read":      {"", func(o *workload.Object) { o.Replicas = workload.Replicas }, nil, true},
		"below an open field": {defines, func(o *workload.Object) { o.Ready = ".status.pools.ready" }, nil, false},
		"without a schema":    {edit("schema:", "none:"), func(o *workload.Object) { o.Ready = ".status.up" }, nil, false},
		"another count":       {defines, func(o *workload.Object) { o.Replicas = workload.Replicas }, []string{"has its replica count in the field .spec.pool.size, but the policy has replicas: .spec.replicas"}, false},
		"no such ready field": {defines, func(o *workload.Object) { o.Ready = workload.Ready }, []string{"has no field .status.readyReplicas"}, false},
		"two at once":         {defines, func(o *workload.Object) { o.Replicas, o.Ready = workload.Replicas, workload.Ready }, []string{".spec.replicas", ".status.readyReplicas"}, false},
		"no scale":            {defines, func(o *workload.Object) { o.Version = "v1alpha1" }, []string{"has no scale subresource in v1alpha1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := worker
			c.of(&o)
			cluster := doctor.ReadCluster(t.Context(), c.defined, workload.Kinds{"worker": o})
			found := doctor.Examine(doctor.Case{Site: "prod", Cluster: cluster, Fleet: workload.Fleet{Kinds: workload.Kinds{"worker": o}}}).Findings
			if c.denied {
				if len(found) != 1 || found[0].Trap != doctor.MissingRights || len(cluster.Unread) != 1 {
					t.Errorf("found %+v, unread %q", found, cluster.Unread)
				}
				return
			}
			if len(found) != len(c.want) || len(cluster.Unread) > 0 {
				t.Fatalf("found %+v, unread %q, want %q", found, cluster.Unread, c.want)
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(found, func(f doctor.Finding) bool {
					return f.Trap == doctor.KindDiffers && f.Fix != "" && slices.Equal(f.Subjects, []string{"worker"}) && strings.HasPrefix(f.Text, "workers.example.com ") && strings.Contains(f.Text, want)
				}) {
					t.Errorf("found %+v, want %q", found, want)
				}
			}
		})
	}
}
