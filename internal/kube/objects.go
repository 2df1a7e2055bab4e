package kube

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Objects reads entire objects of a cluster, for callers that need more fields than
// samples have. It is safe for concurrent use.
type Objects struct {
	client rest.Interface
}

// NewObjects returns a reader of the cluster in config. It sends no request yet. See
// Connect.
func NewObjects(config *rest.Config) (*Objects, error) {
	client, err := Connect(config, "gitlatch", "application/json")
	if err != nil {
		return nil, err
	}
	return &Objects{client}, nil
}

// List returns all objects of a kind as JSON, page by page. If the cluster does not have
// the kind, the result is empty. The error has one line.
func (o *Objects) List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error) {
	all, err := List[json.RawMessage](ctx, o.client, path, resource, kind+"List", true, Selection{})
	if err != nil {
		return nil, errors.New(words(err))
	}
	return all, nil
}

// Get returns one object as JSON, or nil if it does not exist. The error has one line.
func (o *Objects) Get(ctx context.Context, path string) (json.RawMessage, error) {
	body, err := o.client.Get().AbsPath(path).Do(klog.NewContext(ctx, klog.Logger{})).Raw()
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.New(words(err))
	}
	return body, nil
}
