package kube

import (
	"errors"
	"net/http"
)

// pageBytes is the maximum size of one answer of the API server after decompression. A
// page of 250 ordinary Deployments has 1.3 MB in protobuf and 1.8 MB in JSON. A page of
// the largest objects that a tenant can create has 375 MB.
const pageBytes = 8 << 20

// bounded stops reading an answer with a MaxBytesError after pageBytes.
type bounded struct{ http.RoundTripper }

// RoundTrip sends the request with the wrapped RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, pageBytes)
	}
	return answer, err
}

// tooLarge reports whether an answer had more than pageBytes.
func tooLarge(err error) bool {
	var ended *http.MaxBytesError
	return errors.As(err, &ended)
}
