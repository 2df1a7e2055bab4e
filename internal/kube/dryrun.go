package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// A DryRun tries to create objects in a cluster. It has no other request, so it cannot
// change the cluster. It is safe for concurrent use.
type DryRun struct {
	client rest.Interface
}

// NewDryRun returns a DryRun of the cluster in config. It sends no request yet. See Connect.
// Requests have no rate limit: callers limit how many they send at once.
func NewDryRun(config *rest.Config) (*DryRun, error) {
	own := rest.CopyConfig(config)
	own.QPS = -1
	client, err := Connect(own, "gitlatch", "application/json")
	if err != nil {
		return nil, err
	}
	return &DryRun{client}, nil
}

// Create sends a dry-run CREATE of an object in JSON. path is the path of its resource in its
// namespace. The result is nil if the API server admits the object, also if the cluster has an
// object with the name: admission comes before the check of the name.
func (d *DryRun) Create(ctx context.Context, path string, object []byte) error {
	err := d.client.Post().AbsPath(path).Param("dryRun", metav1.DryRunAll).SetHeader("Content-Type", "application/json").
		Body(object).Do(klog.NewContext(ctx, klog.Logger{})).Error()
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
