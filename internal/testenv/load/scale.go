package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// A Scale contains the replicas of a workload in its objects.
type Scale struct {
	Asked int32 // by spec.replicas; 0 is no such workload yet
	// Owned is true once its autoscaler judges it, may scale it, and wants the
	// count that there is.
	Owned bool
}

// scales reads the scales of all Deployments, by namespace and name.
type scales struct {
	client *http.Client
	server string
}

func newScales(t testing.TB, cp *controlplane.ControlPlane) scales {
	t.Helper()
	config := cp.Config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatalf("talk to the API of workloads: %v", err)
	}
	return scales{client, config.Host}
}

// list has the common fields of Deployments and autoscalers that Load reads.
type list struct {
	Items []struct {
		Metadata struct{ Namespace, Name string }
		Spec     struct{ Replicas int32 }
		Status   struct {
			DesiredReplicas int32
			Conditions      []struct{ Type, Status string }
		}
	}
}

func (s scales) read(ctx context.Context) (map[string]Scale, error) {
	var deployments, autoscalers list
	if err := errors.Join(
		s.get(ctx, "/apis/apps/v1/deployments", &deployments),
		s.get(ctx, "/apis/autoscaling/v2/horizontalpodautoscalers", &autoscalers),
	); err != nil {
		return nil, err
	}
	all := map[string]Scale{}
	for _, d := range deployments.Items {
		all[d.Metadata.Namespace+"/"+d.Metadata.Name] = Scale{Asked: d.Spec.Replicas}
	}
	for _, a := range autoscalers.Items {
		holds := map[string]bool{}
		for _, c := range a.Status.Conditions {
			holds[c.Type] = c.Status == "True"
		}
		name := a.Metadata.Namespace + "/" + a.Metadata.Name
		if s, ok := all[name]; ok {
			s.Owned = holds["ScalingActive"] && holds["AbleToScale"] && a.Status.DesiredReplicas == s.Asked
			all[name] = s
		}
	}
	return all, nil
}

func (s scales) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server+path, nil)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("read %s: %s", path, answer.Status)
	}
	body, err := io.ReadAll(answer.Body) // to its end, so that the connection is used again
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return json.Unmarshal(body, into)
}
