package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// pageSize is the number of objects in a page, unless a page of that size exceeds
	// pageBytes. A list has two pages in memory at a time. With 500 objects, as in
	// kubectl, the pages were half of the memory of a sample.
	pageSize = 250
	// restarts is how often a list restarts because its continue token has expired.
	restarts = 3
)

// A Selection narrows a list. The zero value selects every object.
type Selection struct {
	Namespace string
	Name      string // of a single object
	Labels    string // a label selector
}

// List returns all objects of a resource from JSON. T has the fields to read. List
// requests them page by page, and returns the API server's error if any page fails. kind
// is the kind of the list; "" accepts any. If optional is true and the cluster does not
// have the resource, the result is empty.
func List[T any](ctx context.Context, client rest.Interface, path, resource, kind string, optional bool, of Selection) ([]T, error) {
	ctx = klog.NewContext(ctx, klog.Logger{}) // client-go also logs the errors that it returns
	return list(ctx, client, row[T]{resource: resource, path: path, optional: optional,
		page: custom(kind, func(one *T) T { return *one })}, of, all[T])
}

// all requests the entire object, and brief requests the gist.
func all[R any](*R) portion   { return entire }
func brief[R any](*R) portion { return gist }

// list returns the objects of a kind that want selects. It reads them page by page, and
// drops the fields that want does not request with each page. If it returns an error, it
// returns no objects, because a partial list would look complete.
func list[R any](ctx context.Context, client rest.Interface, r row[R], of Selection, want func(*R) portion) ([]R, error) {
	for attempt := 0; ; attempt++ {
		all, err := pages(ctx, client, r, of, want)
		switch {
		case err == nil:
			return all, nil
		case r.optional && apierrors.IsNotFound(err):
			return nil, nil
		case r.missing != "" && apierrors.IsNotFound(err):
			return nil, errors.New(r.missing)
		case expired(err) && attempt < restarts:
			continue
		}
		return nil, err
	}
}

// pages reads one list. It requests the next page while it reads a page. All pages share
// two buffers: with a new buffer for each page, the buffers were half of the memory of a
// sample. If a page is too large, pages requests it again with half the size. Each page
// that fits doubles the size of the next.
func pages[R any](ctx context.Context, client rest.Interface, r row[R], of Selection, want func(*R) portion) (all []R, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	size, token := pageSize, ""
	into, other := &bytes.Buffer{}, &bytes.Buffer{}
	coming := r.ask(ctx, client, of, size, token, into)
	for {
		err := <-coming
		if tooLarge(err) && size > 1 {
			size /= 2
			coming = r.ask(ctx, client, of, size, token, into)
			continue
		}
		var page page[R]
		if err == nil {
			page, err = r.page(into.Bytes())
		}
		switch {
		case err != nil:
			return nil, err
		case page.next != "" && page.next == token:
			return nil, errors.New("the server returned the same page twice")
		}
		size, token = min(2*size, pageSize), page.next
		into, other = other, into
		if token != "" {
			into.Reset()
			into.Grow(other.Len() + other.Len()/8) // about as large as the previous page, as usual
			coming = r.ask(ctx, client, of, size, token, into)
		}
		if all, err = page.read(all, want); err != nil {
			return nil, err
		}
		if token == "" {
			return all, nil
		}
	}
}

// ask requests a page. The page is in the buffer when the channel receives. ask sets no
// resourceVersion, so that all pages show the present state at the same instant. With
// resourceVersion 0 the server would ignore the limit.
func (r row[R]) ask(ctx context.Context, client rest.Interface, of Selection, size int, token string, into *bytes.Buffer) <-chan error {
	request := client.Get().AbsPath(r.path).Resource(r.resource).
		NamespaceIfScoped(of.Namespace, of.Namespace != "").
		Param("limit", strconv.Itoa(size))
	if r.json {
		request.SetHeader("Accept", "application/json")
	}
	for name, value := range map[string]string{"labelSelector": of.Labels, "continue": token} {
		if value != "" {
			request.Param(name, value)
		}
	}
	if of.Name != "" {
		request.Param("fieldSelector", "metadata.name="+of.Name)
	}
	coming := make(chan error, 1) // buffered, because the receiver may have returned
	go func() { coming <- receive(ctx, request, into) }()
	return coming
}

// receive sends a request and replaces the content of the buffer with the answer.
func receive(ctx context.Context, request *rest.Request, into *bytes.Buffer) error {
	into.Reset()
	answer, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	if _, err = into.ReadFrom(answer); err != nil {
		err = fmt.Errorf("the answer was cut short: %w", err)
	}
	return errors.Join(err, answer.Close())
}

func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }
