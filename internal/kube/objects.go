package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Objects reads whole objects of a cluster, for what looks at more of them than
// samples hold. It is safe for concurrent use.
type Objects struct {
	client rest.Interface
	server string
}

// NewObjects returns a reader of the cluster that config leads to. It asks
// nothing of the cluster yet.
func NewObjects(config *rest.Config) (*Objects, error) {
	own := rest.CopyConfig(config)
	own.NegotiatedSerializer = codecs
	own.AcceptContentTypes, own.ContentType = "application/json", "application/json"
	own.WarningHandler = rest.NoWarnings{}
	if own.UserAgent == "" {
		own.UserAgent = "gitlatch"
	}
	client, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("new reader of objects: %w", err)
	}
	return &Objects{client, config.Host}, nil
}

// Server is the address of the API server.
func (o *Objects) Server() string { return o.server }

// List returns all objects of a kind as JSON, page by page; none where the
// cluster does not have the kind. The error is a phrase in one line.
func (o *Objects) List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error) {
	ctx = klog.NewContext(ctx, klog.Logger{})
	all, err := list(ctx, o.client, row[json.RawMessage]{
		resource: resource, path: path, optional: true,
		page: custom(kind+"List", func(one *json.RawMessage) json.RawMessage { return *one }),
	}, selection{}, nil)
	if err != nil {
		return nil, errors.New(words(err))
	}
	return all, nil
}

// Get returns one object as JSON. The error is a phrase in one line.
func (o *Objects) Get(ctx context.Context, path string) (json.RawMessage, error) {
	answer := o.client.Get().AbsPath(path).Do(klog.NewContext(ctx, klog.Logger{}))
	body, err := answer.Raw()
	if err != nil {
		return nil, errors.New(words(err))
	}
	return body, nil
}

// Minor returns the minor version of Kubernetes 1 that the server is.
func (o *Objects) Minor(ctx context.Context) (int, error) {
	body, err := o.client.Get().AbsPath("/version").Do(klog.NewContext(ctx, klog.Logger{})).Raw()
	if err != nil {
		return 0, errors.New(words(err))
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
