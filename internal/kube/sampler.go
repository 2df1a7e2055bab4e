package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Options are settings that a sampler cannot read from the cluster.
type Options struct {
	Site  string           // the site of the cluster
	Clock func() time.Time // required
}

// A Sampler samples one cluster. It reuses its connections, so use one Sampler for all
// samples. It is safe for concurrent use.
type Sampler struct {
	client  rest.Interface
	server  string
	options Options
}

// New returns a sampler of the cluster in config. It sends no request yet. See Connect.
func New(config *rest.Config, o Options) (*Sampler, error) {
	client, err := Connect(config, "gitlatch", accept)
	if err != nil {
		return nil, err
	}
	return &Sampler{client, config.Host, o}, nil
}

// Sample samples all workloads of the kinds in the cluster. If it may not list a part, or
// a list fails, it adds the part to Fleet.Unread and leaves out its samples. It returns
// an error only if it cannot return a fleet: a ServerError, or the error of the context.
func (s *Sampler) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{})) // client-go also logs the errors that it returns
	defer cancel()
	l, table := look{Sampler: s, fleet: workload.Fleet{Site: s.options.Site, At: s.options.Clock(), Kinds: kinds}}, tableOf(kinds)
	if err := l.cluster(ctx); err != nil {
		return workload.Fleet{}, err
	}
	var h haul
	// Read the promotions first. They determine which workloads must be read entirely.
	promoting, ok, err := fetch(ctx, &l, table.promotions, brief)()
	if err != nil {
		return workload.Fleet{}, err
	}
	held := map[workload.ID]bool{}
	for _, p := range promoting {
		if p.inFlight() {
			held[p.target], held[p.primary()] = true, true
		}
	}
	want := func(r *reading) portion {
		if r.flight != nil || held[r.sample.ID] {
			return entire
		}
		r.template = nil
		return gist
	}
	workloads := lists.Map(table.workloads, func(r row[reading]) fetched[reading] { return fetch(ctx, &l, r, want) })
	autoscalers := lists.Map(table.autoscalers, func(r row[autoscaler]) fetched[autoscaler] { return fetch(ctx, &l, r, brief) })
	for i, r := range table.workloads {
		read, _, err := workloads[i]()
		if err != nil {
			return workload.Fleet{}, err
		}
		h.workloads = both(h.workloads, l.valid(r.part(), read))
	}
	for i, r := range table.autoscalers {
		read, ok, err := autoscalers[i]()
		if err != nil {
			return workload.Fleet{}, err
		}
		h.autoscalers = both(h.autoscalers, read)
		if !ok && !r.optional {
			h.blindTo = r.resource
		}
	}
	if len(l.denied) == table.requests() {
		return workload.Fleet{}, &ServerError{ErrForbidden, s.server, l.denied[0]}
	}
	unread := ""
	if !ok {
		unread = table.promotions.resource + " could not be listed"
	}
	h.workloads = promoted(h.workloads, promoting, unread)
	h.history, err = l.templates(ctx, h.workloads)
	if err != nil {
		return workload.Fleet{}, err
	}
	l.fleet.Samples = h.samples()
	return l.fleet, nil
}

// both returns the concatenation of two lists. It does not copy b if a is empty.
func both[R any](a, b []R) []R {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

// A look is one sample in progress.
type look struct {
	*Sampler
	fleet  workload.Fleet
	denied []error // one error for each forbidden part
}

// cluster reads the UID of the cluster. It is the first request, so that Sample detects a
// server that does not answer before it adds parts to Fleet.Unread.
func (l *look) cluster(ctx context.Context) error {
	var answer bytes.Buffer
	err := receive(ctx, l.client.Get().AbsPath("/api/v1").Resource("namespaces").Name("kube-system"), &answer)
	if err == nil {
		var namespace *corev1.Namespace
		if namespace, err = decode[*corev1.Namespace](answer.Bytes()); err == nil {
			l.fleet.Cluster = string(namespace.UID)
			return nil
		}
	}
	if silent := new(url.Error); errors.As(err, &silent) || away(err) {
		return &ServerError{ErrUnreachable, l.server, err}
	}
	return l.unread(ctx, "namespace kube-system", err)
}

// away reports whether the answer is from a proxy without an API server behind it. Sample
// then returns a single error, not one for each kind.
func away(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	silent := []int32{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return ok && slices.Contains(silent, status.ErrStatus.Code)
}

// A fetched waits for a list and returns it. ok is false if it could not be listed.
type fetched[R any] func() (read []R, ok bool, err error)

// fetch starts to list a kind, in parallel to other lists.
func fetch[R any](ctx context.Context, l *look, r row[R], want func(*R) portion) fetched[R] {
	var read []R
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		read, err = list(ctx, l.client, r, Selection{}, want)
	}()
	return func() ([]R, bool, error) {
		<-done
		if err != nil {
			return nil, false, l.unread(ctx, r.part(), err)
		}
		return read, true, nil
	}
}

// unread adds a part to Fleet.Unread, or returns the error that ends the sample.
func (l *look) unread(ctx context.Context, what string, err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return &ServerError{ErrUnauthorized, l.server, err}
	case ctx.Err() != nil:
		return fmt.Errorf("read %s: %w", what, context.Cause(ctx))
	case apierrors.IsForbidden(err):
		l.denied = append(l.denied, err)
	}
	l.fleet.Unread = append(l.fleet.Unread, workload.Unread{Part: what, Why: words(err)})
	return nil
}

// valid removes the readings with an invalid ID, and adds each to Fleet.Unread.
func (l *look) valid(part string, read []reading) []reading {
	return slices.DeleteFunc(read, func(r reading) bool {
		err := r.sample.ID.Validate()
		if err != nil {
			l.fleet.Unread = append(l.fleet.Unread, workload.Unread{Part: part, Why: sanitize.Words(err.Error())})
		}
		return err != nil
	})
}
