// Package cluster is what a restore reads and writes of a cluster: whole LISTs,
// scales, the brakes of autoscalers, and the seeds of a split. Nothing else is
// ever written.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
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
	kinds  workload.Kinds
}

// Manager is whom the API server notes for what is written.
const Manager = "gitlatch-restore"

// answerWithin is how long the API server may take for one answer.
const answerWithin = 20 * time.Second

// New returns the cluster that config leads to, with workloads of the kinds. It
// asks nothing of it yet.
func New(config *rest.Config, kinds workload.Kinds) (*Client, error) {
	own := rest.CopyConfig(config)
	// Only a few fields of each object are read, by types that name no others.
	own.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	own.AcceptContentTypes, own.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	own.WarningHandler = rest.NoWarnings{}
	if own.UserAgent == "" {
		own.UserAgent = Manager
	}
	if own.Timeout == 0 {
		own.Timeout = answerWithin
	}
	if own.RateLimiter == nil && own.QPS == 0 {
		own.QPS, own.Burst = 50, 100
	}
	client, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("open the cluster: %w", err)
	}
	return &Client{client: client, server: own.Host, kinds: kinds}, nil
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

const (
	pageSize = 500
	restarts = 3 // of a list whose instant the server forgot
)

// list returns all objects of a kind, or those that the parameters select, each a
// name and a value; half a list is an error. With optional, a kind that the
// cluster has not has no objects.
func list[T any](ctx context.Context, c *Client, path string, optional bool, parameters ...string) (all []T, err error) {
	for range restarts {
		all, err = pages[T](ctx, c, path, parameters)
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			break
		}
	}
	if optional && apierrors.IsNotFound(err) {
		return nil, nil
	}
	return all, wrap("list "+path, err)
}

func pages[T any](ctx context.Context, c *Client, path string, parameters []string) ([]T, error) {
	var all []T
	for token := ""; ; {
		request := c.client.Get().AbsPath(path).Param("limit", strconv.Itoa(pageSize))
		for parameter := range slices.Chunk(parameters, 2) {
			request.Param(parameter[0], parameter[1])
		}
		if token != "" {
			request.Param("continue", token)
		}
		var page struct {
			metav1.ListMeta `json:"metadata"`
			Items           []T `json:"items"`
		}
		if err := c.read(ctx, request, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		switch page.Continue {
		case "":
			return all, nil
		case token:
			return nil, errors.New("the server continues with the page that it just gave")
		}
		token = page.Continue
	}
}

// read makes a request and decodes its answer.
func (c *Client) read(ctx context.Context, r *rest.Request, into any) error {
	body, err := r.Do(klog.NewContext(ctx, klog.Logger{})).Raw() // client-go also logs the errors that it returns
	if err != nil {
		return c.explain(err, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

// explain returns an error of the API server with its own words, and that of one
// which did not answer as what it is.
func (c *Client) explain(err error, body []byte) error {
	var status metav1.Status
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && json.Unmarshal(body, &status) == nil && status.Kind == "Status" {
		err = &apierrors.StatusError{ErrStatus: status}
	}
	var silent *url.Error
	switch {
	case errors.As(err, &silent):
		return &kube.UnreachableError{Server: c.server, Cause: err}
	case apierrors.IsUnauthorized(err):
		return &kube.UnauthorizedError{Server: c.server, Cause: err}
	}
	return err
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
