package kube

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// pageSize is how many objects are asked for at once, as long as a page of so
	// many has at most pageBytes.
	pageSize = 500
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
// are read, page by page; half a list is an error, which is the API server's. With
// optional, a resource that the cluster does not have has no objects.
func List[T any](ctx context.Context, client rest.Interface, path, resource string, optional bool, of Selection) ([]T, error) {
	return listed[T](ctx, client, path, resource, "", optional, of)
}

// listed is List of a kind of list; "" is any.
func listed[T any](ctx context.Context, client rest.Interface, path, resource, kind string, optional bool, of Selection) ([]T, error) {
	ctx = klog.NewContext(ctx, klog.Logger{}) // client-go also logs the errors that it returns
	return list(ctx, client, row[T]{resource: resource, path: path, optional: optional,
		page: custom(kind, func(one *T) T { return *one })}, of, nil)
}

// list returns all objects of a kind that keep keeps, page by page; a nil keep
// keeps all. What keep sheds of one is not held for the rest of the list. An error
// leaves nothing: half a list would read as the whole.
func list[R any](ctx context.Context, client rest.Interface, r row[R], of Selection, keep func(*R) bool) ([]R, error) {
	for attempt := 0; ; attempt++ {
		all, err := pages(ctx, client, r, of, keep)
		switch {
		case err == nil:
			return all, nil
		case r.optional && apierrors.IsNotFound(err):
			return nil, nil
		case expired(err) && attempt < restarts:
			continue
		}
		return nil, err
	}
}

// pages goes through one list once. It asks for no resourceVersion: the pages
// are then of one instant, and of the present; with 0 the server would ignore
// the limit. A page that is too large is asked for anew at half its size, and
// each that fits doubles the next.
func pages[R any](ctx context.Context, client rest.Interface, r row[R], of Selection, keep func(*R) bool) ([]R, error) {
	var all []R
	size := pageSize
	for token := ""; ; {
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
		page, next, err := r.page(request.Do(ctx))
		switch {
		case tooLarge(err) && size > 1:
			size /= 2
			continue
		case err != nil:
			return nil, err
		}
		size = min(2*size, pageSize)
		for i := range page {
			if keep == nil || keep(&page[i]) {
				all = append(all, page[i])
			}
		}
		switch next {
		case "":
			return all, nil
		case token:
			return nil, errors.New("the server continues with the page that it just gave")
		}
		token = next
	}
}

func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }
