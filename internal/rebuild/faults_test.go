package rebuild

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// A fault is what goes wrong with one look at a cluster.
type fault string

const (
	whole    fault = ""
	halfway  fault = "the second page of deployments fails"
	cutOff   fault = "the answer breaks off in the second page of deployments"
	noScaler fault = "autoscalers are not answered"
	noName   fault = "which cluster it is, is not answered"
)

// faults has the API server fail from one look to the next, in turn.
type faults struct {
	fault fault
	looks int
}

func (f *faults) next() fault {
	all := []fault{halfway, whole, cutOff, noScaler, noName}
	f.fault = all[f.looks%len(all)]
	f.looks++
	return f.fault
}

// wrap has pages hold two objects, so that there is a second one to fail.
func (f *faults) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		query := r.URL.Query()
		if query.Has("limit") {
			query.Set("limit", "2")
			r.URL.RawQuery = query.Encode()
		}
		second := strings.HasSuffix(r.URL.Path, "/deployments") && query.Has("continue")
		switch {
		case f.fault == halfway && second,
			f.fault == noScaler && strings.HasSuffix(r.URL.Path, "/horizontalpodautoscalers"),
			f.fault == noName && strings.HasSuffix(r.URL.Path, "/namespaces/kube-system"):
			return refusal(r), nil
		case f.fault == cutOff && second:
			answer, err := next.RoundTrip(r)
			if err == nil {
				answer.Body = broken{io.LimitReader(answer.Body, 100), answer.Body}
			}
			return answer, err
		}
		return next.RoundTrip(r)
	})
}

// refusal is the answer of an API server that is not itself.
func refusal(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusInternalServerError, Status: "500 Internal Server Error", Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)),
	}
}

// broken is a body that ends in the middle.
type broken struct {
	io.Reader
	io.Closer
}

func (b broken) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
