package split

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// built is what the sources hold of Deployments.
type built struct {
	of          map[workload.ID][]manifest // those that differ
	utilisation map[workload.ID]float64
	promoted    map[workload.ID]bool
}

type manifest struct {
	by     string
	object json.RawMessage
}

// A head is what tells one object from another.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
}

// A reference is how an object names another of its namespace.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// deployment returns the Deployment that is meant.
func (r reference) deployment(namespace string) (workload.ID, bool) {
	id := workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: r.Name}
	return id, r.Kind == "Deployment" && strings.HasPrefix(r.APIVersion, "apps/")
}

func read(sources []Source) (built, error) {
	b := built{of: map[workload.ID][]manifest{}, utilisation: map[workload.ID]float64{}, promoted: map[workload.ID]bool{}}
	for _, s := range sources {
		for _, o := range s.Objects {
			if err := b.add(s, o); err != nil {
				return b, fmt.Errorf("read what %s creates: %w", s.Name, err)
			}
		}
	}
	return b, nil
}

func (b built) add(s Source, o json.RawMessage) error {
	var h head
	if err := json.Unmarshal(o, &h); err != nil {
		return err
	}
	namespace := cmp.Or(h.Metadata.Namespace, s.Namespace, "default")
	group, _, _ := strings.Cut(h.APIVersion, "/")
	switch {
	case group == "apps" && h.Kind == "Deployment":
		placed, err := place(o, namespace)
		if err != nil {
			return err
		}
		id := workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: h.Metadata.Name}
		same := func(m manifest) bool { return bytes.Equal(m.object, placed) }
		if !slices.ContainsFunc(b.of[id], same) {
			b.of[id] = append(b.of[id], manifest{s.Name, placed})
		}
	case group == "autoscaling" && h.Kind == "HorizontalPodAutoscaler":
		var scaler autoscaler
		if err := json.Unmarshal(o, &scaler); err != nil {
			return err
		}
		if id, ok := scaler.Spec.Target.deployment(namespace); ok {
			b.utilisation[id] = scaler.utilisation()
		}
	case group == "flagger.app" && h.Kind == "Canary":
		var canary struct {
			Spec struct {
				Target reference `json:"targetRef"`
			} `json:"spec"`
		}
		if err := json.Unmarshal(o, &canary); err != nil {
			return err
		}
		if id, ok := canary.Spec.Target.deployment(namespace); ok {
			b.promoted[id] = true
		}
	}
	return nil
}

// place returns an object with its namespace stated, in one form.
func place(o json.RawMessage, namespace string) (json.RawMessage, error) {
	whole, err := decode(o)
	if err != nil {
		return nil, err
	}
	field(whole, "metadata")["namespace"] = namespace
	return json.Marshal(whole)
}

// An autoscaler is what is read of an HPA, of either version.
type autoscaler struct {
	Spec struct {
		Target  reference `json:"scaleTargetRef"`
		CPU     int32     `json:"targetCPUUtilizationPercentage"`
		Metrics []struct {
			Resource, ContainerResource struct {
				Target struct {
					AverageUtilization int32 `json:"averageUtilization"`
				} `json:"target"`
			}
		} `json:"metrics"`
	} `json:"spec"`
}

// utilisation is the highest that it aims at, as a fraction; 0 where one of its
// metrics is no utilisation, as headroom has it.
func (a autoscaler) utilisation() float64 {
	highest := a.Spec.CPU
	for _, m := range a.Spec.Metrics {
		of := cmp.Or(m.Resource.Target.AverageUtilization, m.ContainerResource.Target.AverageUtilization)
		if of == 0 {
			return 0
		}
		highest = max(highest, of)
	}
	return float64(highest) / 100
}

// decode reads an object as it is, numbers to the last digit.
func decode(o json.RawMessage) (whole map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(o))
	d.UseNumber()
	err = d.Decode(&whole)
	return whole, err
}

// field returns a field that is an object, which is made where it is missing.
func field(of map[string]any, name string) map[string]any {
	if one, ok := of[name].(map[string]any); ok {
		return one
	}
	one := map[string]any{}
	of[name] = one
	return one
}
