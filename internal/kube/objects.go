package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Objects reads entire objects of a cluster, for callers that need more fields than
// samples have. It is safe for concurrent use.
type Objects struct {
	client rest.Interface
	server string
}

// NewObjects returns a reader of the cluster in config. It sends no request yet. See
// Connect.
func NewObjects(config *rest.Config) (*Objects, error) {
	client, err := Connect(config, "gitlatch", "application/json")
	if err != nil {
		return nil, err
	}
	return &Objects{client, config.Host}, nil
}

// Server returns the address of the API server.
func (o *Objects) Server() string { return o.server }

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

// Minor returns the minor version of the server, whose major version must be 1.
func (o *Objects) Minor(ctx context.Context) (int, error) {
	body, err := o.Get(ctx, "/version")
	if err != nil {
		return 0, err
	}
	var version struct{ Major, Minor string }
	if err := json.Unmarshal(body, &version); err != nil {
		return 0, fmt.Errorf("decode the version: %w", err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(version.Minor, "+"))
	if err != nil || version.Major != "1" {
		return 0, fmt.Errorf("the version is %q.%q, and 1 and a number were expected", version.Major, version.Minor)
	}
	return minor, nil
}
