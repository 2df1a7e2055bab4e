package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore/split"
)

var deployments, replicaSets = resource{"/apis/apps/v1", "deployments"}, resource{"/apis/apps/v1", "replicasets"}

// Try returns a Deployment as the cluster would create it now, with what the API
// server fills in and what policies make of it. Nothing is created.
func (c *Client) Try(ctx context.Context, d split.Candidate) (created json.RawMessage, err error) {
	request := c.client.Post().AbsPath(deployments.in(d.ID.Namespace))
	return created, wrap("try to create "+d.ID.String(), c.create(ctx, request, d.Manifest, true, &created))
}

// Seed makes a ReplicaSet, or with dry only tries to.
func (c *Client) Seed(ctx context.Context, s split.Seed, dry bool) error {
	request := c.client.Post().AbsPath(replicaSets.in(s.ID.Namespace))
	var made json.RawMessage
	return wrap("seed "+s.ID.String(), c.create(ctx, request, s.Object, dry, &made))
}

func (c *Client) create(ctx context.Context, r *rest.Request, object json.RawMessage, dry bool, made *json.RawMessage) error {
	if dry {
		r.Param("dryRun", metav1.DryRunAll)
	}
	return c.read(ctx, r.Param("fieldManager", Manager).Body([]byte(object)), made)
}

// A replicaSet is what is read of a seed.
type replicaSet struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Replicas int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ReadyReplicas int32 `json:"readyReplicas"`
	} `json:"status"`
}

// Seeds returns the seeds of a site, those that were adopted among them.
func (c *Client) Seeds(ctx context.Context, site string) (found []split.Standing, err error) {
	all, err := list[replicaSet](ctx, c, replicaSets, false, kube.Selection{Labels: split.Label + "=" + site})
	for _, s := range all {
		one := split.Standing{Namespace: s.Namespace, Name: s.Name, Pods: s.Spec.Replicas, Ready: s.Status.ReadyReplicas, UID: string(s.UID), Version: s.ResourceVersion}
		if owner := metav1.GetControllerOf(&s.ObjectMeta); owner != nil {
			one.Adopter = owner.Name
		}
		found = append(found, one)
	}
	return found, err
}

// Unseed deletes a seed and its pods, on the condition that it is as it was read:
// who adopts it at the same time wins, and the error is a conflict.
func (c *Client) Unseed(ctx context.Context, s split.Standing) error {
	uid, background := types.UID(s.UID), metav1.DeletePropagationBackground
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &s.Version},
		PropagationPolicy: &background,
	})
	if err != nil {
		return err
	}
	var answer json.RawMessage
	err = c.read(ctx, c.client.Delete().AbsPath(replicaSets.in(s.Namespace)+"/"+s.Name).Body(body), &answer)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return wrap(fmt.Sprintf("take back replicaset %s/%s", s.Namespace, s.Name), err)
}
