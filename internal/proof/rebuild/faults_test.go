//go:build gitops

package rebuild

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
)

// A fault is a failure in one sample of a cluster.
type fault string

const (
	whole     fault = ""
	halfway   fault = "the second page of deployments fails"
	cutOff    fault = "the answer breaks off in the second page of deployments"
	noScaler  fault = "autoscalers are not answered"
	halfScale fault = "the second page of autoscalers fails"
	noKEDA    fault = "ScaledObjects may not be read"
	noSets    fault = "StatefulSets may not be read"
	noName    fault = "which cluster it is, is not answered"
)

// inTurn are the faults of successive samples.
var inTurn = []fault{halfway, whole, cutOff, noScaler, halfScale, noKEDA, noSets, noName}

// leaves returns the number of workloads with a known scale. It is 0 if a workload may
// have an autoscaler that the sample did not see.
func (f fault) leaves() int {
	switch f {
	case halfway, cutOff, noScaler, halfScale:
		return 0
	}
	return 4
}

// faults makes the API server fail from one sample to the next, in turn.
type faults struct {
	fault fault
	looks int
}

func (f *faults) next() fault {
	f.fault = inTurn[f.looks%len(inTurn)]
	f.looks++
	return f.fault
}

// wrap makes pages of two objects while a fault is active, so that a second page can
// fail.
func (f *faults) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if f.fault == whole {
			return next.RoundTrip(r)
		}
		r = r.Clone(r.Context())
		query := r.URL.Query()
		if query.Has("limit") {
			query.Set("limit", "2")
			r.URL.RawQuery = query.Encode()
		}
		resource, second := path.Base(r.URL.Path), query.Has("continue")
		switch {
		case f.fault == halfway && resource == "deployments" && second,
			f.fault == noScaler && resource == "horizontalpodautoscalers",
			f.fault == halfScale && resource == "horizontalpodautoscalers" && second,
			f.fault == noName && resource == "kube-system":
			return refusal(r, http.StatusInternalServerError), nil
		case f.fault == noKEDA && resource == "scaledobjects",
			f.fault == noSets && resource == "statefulsets":
			return refusal(r, http.StatusForbidden), nil
		case f.fault == cutOff && resource == "deployments" && second:
			answer, err := next.RoundTrip(r)
			if err == nil {
				answer.Body = broken{io.LimitReader(answer.Body, 100), answer.Body}
			}
			return answer, err
		}
		return next.RoundTrip(r)
	})
}

// refusal is the answer of an API server that refuses a request.
func refusal(r *http.Request, code int) *http.Response {
	return &http.Response{
		StatusCode: code, Status: fmt.Sprint(code, " ", http.StatusText(code)), Request: r,
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
