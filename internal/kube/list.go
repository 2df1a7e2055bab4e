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
	// pageSize is how many objects are asked for at once, as long as a page of so
	// many has at most pageBytes. Two pages of each kind are held while they are read:
	// with 500, as kubectl asks for, these were half of what a look took.
	pageSize = 250
	// restarts is how often a list is begun anew because the server forgot the
	// instant that its pages were of.
	restarts = 3
)

// A Selection narrows a list. The zero value selects all.
type Selection struct {
	Namespace string
	Name      string // of one object
	Labels    string // a label selector
}

// List returns all objects of a resource as JSON, of which T names the fields that
// are read, page by page; half a list is an error, which is the API server's. The kind
// is that of the list; "" is any. With optional, a resource that the cluster does not
// have has no objects.
func List[T any](ctx context.Context, client rest.Interface, path, resource, kind string, optional bool, of Selection) ([]T, error) {
	ctx = klog.NewContext(ctx, klog.Logger{}) // client-go also logs the errors that it returns
	return list(ctx, client, row[T]{resource: resource, path: path, optional: optional,
		page: custom(kind, func(one *T) T { return *one })}, of, all[T])
}

// all wants objects entire, and brief their gist.
func all[R any](*R) portion   { return entire }
func brief[R any](*R) portion { return gist }

// list returns what is wanted of a kind, page by page. What want sheds of an object
// is not held for the rest of the list. An error leaves nothing: half a list would
// read as the whole.
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

// pages goes through one list once. While one page is read the next comes. Two buffers
// serve all pages: a new one for each was half of what a look took. A page that is too
// large is asked for anew at half its size, and each that fits doubles the next.
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
			into.Grow(other.Len() + other.Len()/8) // about as large as the page before it, as most are
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

// ask asks for a page. Once the channel says so it is in the buffer. It asks for no
// resourceVersion: the pages are then of one instant, and of the present; with 0 the
// server would ignore the limit.
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
	coming := make(chan error, 1) // nobody may wait for it any more
	go func() { coming <- receive(ctx, request, into) }()
	return coming
}

// receive sends a request and puts the answer into a buffer, in place of what it holds.
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
