package kube

import (
	"errors"
	"net/http"
)

// pageBytes bounds one answer of the API server, as it is once it is inflated. A
// page of 250 ordinary Deployments has 1.3 MB in protobuf and 1.8 MB in JSON; of
// objects as large as a tenant can make them, 250 have 375 MB.
const pageBytes = 8 << 20

// bounded ends answers that have more than pageBytes with a MaxBytesError.
type bounded struct{ http.RoundTripper }

// RoundTrip makes the request of whoever it wraps.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, pageBytes)
	}
	return answer, err
}

// tooLarge reports whether an answer was ended so.
func tooLarge(err error) bool {
	var ended *http.MaxBytesError
	return errors.As(err, &ended)
}
