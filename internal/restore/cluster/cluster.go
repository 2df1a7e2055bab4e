// Package cluster reads and writes a cluster for a restore. It lists all objects of a
// kind at once, and only writes scales and the brakes of autoscalers.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Client is a connection to one cluster. It reuses connections, and is safe for
// concurrent use.
type Client struct {
	client rest.Interface
	server string
	// Kinds are the custom kinds of workloads to read in addition to the built-in ones.
	// Set them before the first request.
	Kinds workload.Kinds
}

// Manager is the field manager of every write.
const Manager = "gitlatch-restore"

// New returns a client of the cluster in config. It sends no request.
func New(config *rest.Config) (*Client, error) {
	client, err := kube.Connect(config, Manager, "application/json")
	if err != nil {
		return nil, err
	}
	return &Client{client: client, server: config.Host}, nil
}

// Server returns the URL of the cluster's API server.
func (c *Client) Server() string { return c.server }

// UID returns the UID of namespace kube-system, which identifies the cluster.
func (c *Client) UID(ctx context.Context) (string, error) {
	var namespace metav1.PartialObjectMetadata
	err := c.read(ctx, c.client.Get().AbsPath("/api/v1/namespaces/kube-system"), &namespace)
	return string(namespace.UID), wrap("read namespace kube-system", err)
}

// list returns the selected objects of a resource, or all of them. With optional, a kind
// that the cluster does not serve has no objects.
func list[T any](ctx context.Context, c *Client, of resource, optional bool, some kube.Selection) ([]T, error) {
	all, err := kube.List[T](ctx, c.client, of.path, of.name, "", optional, some)
	return all, wrap("list "+of.path+"/"+of.name, c.explain(err))
}

// A resource is a kind of object in the form of URL paths.
type resource struct{ path, name string }

// in returns the path of the resource in a namespace.
func (r resource) in(namespace string) string {
	return r.path + "/namespaces/" + url.PathEscape(namespace) + "/" + r.name
}

func resourceOf(o workload.Object) resource { return resource{o.Path(), o.Resource} }

// read sends a request and decodes the answer.
func (c *Client) read(ctx context.Context, r *rest.Request, into any) error {
	answer := r.Do(klog.NewContext(ctx, klog.Logger{})) // client-go also logs the errors that it returns
	body, err := answer.Raw()
	if err != nil {
		return c.explain(answer.Error())
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

// explain returns a ServerError if the API server could not be reached or rejected the
// credentials.
func (c *Client) explain(err error) error {
	var silent *url.Error
	switch {
	case errors.As(err, &silent):
		return &kube.ServerError{Kind: kube.ErrUnreachable, Server: c.server, Cause: err}
	case apierrors.IsUnauthorized(err):
		return &kube.ServerError{Kind: kube.ErrUnauthorized, Server: c.server, Cause: err}
	}
	return err
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
