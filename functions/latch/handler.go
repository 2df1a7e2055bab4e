package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/kube/kubeconfig"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/site"
)

// configVariable holds the document of kind Config that the function runs by.
const configVariable = "GITLATCH_CONFIG"

// event is what a schedule, or a person, invokes the function with.
type event struct {
	// Site must be the configured one; "" is it.
	Site string `json:"site"`
	// DryRun computes all and writes nothing.
	DryRun bool `json:"dryRun"`
}

// handler is what warm invocations share: connections, and what they opened.
type handler struct {
	config config.Config
	parts  site.Parts
	log    zerolog.Logger
}

func newHandler(getenv func(string) string, clock func() time.Time, log zerolog.Logger) (*handler, error) {
	document := getenv(configVariable)
	if document == "" {
		return nil, fmt.Errorf("environment variable %s must hold a document of kind Config", configVariable)
	}
	c, err := config.ParseConfig(configVariable, []byte(document))
	if err != nil {
		return nil, err
	}
	store, err := openStore(c.State)
	if err != nil {
		return nil, err
	}
	cluster, err := kubeconfig.Load(kubeconfig.Choice{Path: c.Cluster.Kubeconfig, Context: c.Cluster.Context})
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	sampler, err := kube.New(cluster, kube.Options{Site: c.Site, Clock: clock})
	if err != nil {
		return nil, err
	}
	repository, err := site.Repository(c, getenv)
	if err != nil {
		return nil, err
	}
	return &handler{
		config: c,
		parts:  site.Parts{Sampler: sampler, Store: store, Repository: repository, Clock: clock},
		log:    log,
	}, nil
}

// openStore opens the state. In memory it lives as long as the execution
// environment; the next one reads declared levels back from git.
func openStore(s config.State) (latch.Store, error) {
	if s.Bolt != "" {
		return nil, errors.New("state.bolt: a function has no file that outlives it: use state.memory")
	}
	return mem.New(), nil
}

// parse reads an event for the configured site. What it does not know it
// refuses: who misspells dryRun must not find a commit.
func (h *handler) parse(payload json.RawMessage) (e event, err error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil && !errors.Is(err, io.EOF) {
		return e, fmt.Errorf(`event: %w; want {"site": %q, "dryRun": true} or less`, err, h.config.Site)
	}
	if e.Site != "" && e.Site != h.config.Site {
		return e, fmt.Errorf("event: site is %q, and this function is configured for %q", e.Site, h.config.Site)
	}
	return e, nil
}

// handle makes one tick. What could not be read, or needs a person, is an error
// of the invocation, so that it is counted and alarmed; all else was done.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (report.Document, error) {
	e, err := h.parse(payload)
	if err != nil {
		return report.Document{}, err
	}
	parts := h.parts
	parts.Owner = "latch"
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		parts.Owner += "/" + invocation.AwsRequestID
	}
	t := site.Tick(h.config, parts)
	t.DryRun = e.DryRun

	start := parts.Clock()
	r, err := t.Run(ctx)
	report.Log(h.log, r, parts.Clock().Sub(start), err)
	return report.New(r).Brief(), errors.Join(err, r.Err())
}
