// Package cluster reads and writes a cluster for a restore. It reads whole LISTs, and
// writes only scales and the brakes of autoscalers.
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

// A Client is one cluster. It keeps its connections. It is safe for concurrent
// use.
type Client struct {
	client rest.Interface
	server string
	// Kinds are the kinds of workloads that are looked at beside those that gitlatch
	// knows. They are not to be changed once it is used.
	Kinds workload.Kinds
}

// Manager is whom the API server notes for what is written.
const Manager = "gitlatch-restore"

// New returns the cluster that config leads to. It asks nothing of it yet.
func New(config *rest.Config) (*Client, error) {
	client, err := kube.Connect(config, Manager, "application/json")
	if err != nil {
		return nil, err
	}
	return &Client{client: client, server: config.Host}, nil
}

// Server is the URL of the cluster's API server.
func (c *Client) Server() string { return c.server }

// UID returns the UID of namespace kube-system, which tells one cluster from
// another.
func (c *Client) UID(ctx context.Context) (string, error) {
	var namespace metav1.PartialObjectMetadata
	err := c.read(ctx, c.client.Get().AbsPath("/api/v1/namespaces/kube-system"), &namespace)
	return string(namespace.UID), wrap("read namespace kube-system", err)
}

// list returns all objects of a resource, or those that are selected. With
// optional, a kind that the cluster has not has no objects.
func list[T any](ctx context.Context, c *Client, of resource, optional bool, some kube.Selection) ([]T, error) {
	all, err := kube.List[T](ctx, c.client, of.path, of.name, "", optional, some)
	return all, wrap("list "+of.path+"/"+of.name, c.explain(err))
}

// A resource is a kind of object, as URLs have it.
type resource struct{ path, name string }

// in is where the resource is in a namespace.
func (r resource) in(namespace string) string {
	return r.path + "/namespaces/" + url.PathEscape(namespace) + "/" + r.name
}

func resourceOf(o workload.Object) resource { return resource{o.Path(), o.Resource} }

// read makes a request and decodes its answer.
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

// explain returns an error of an API server that did not answer, or does not know
// who asks, as what it is.
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
