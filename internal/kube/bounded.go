package kube

import (
	"errors"
	"io"
	"net/http"
)

// pageBytes bounds one answer of the API server, as it is once it is inflated. A
// page of 500 ordinary Deployments has 2.5 MB in protobuf and 3.6 MB in JSON; of
// objects as large as a tenant can make them, 500 have 750 MB.
const pageBytes = 8 << 20

// errTooLarge says that an answer has more than pageBytes.
var errTooLarge = errors.New("one object has more than 8 MiB")

// bounded ends answers that have more than pageBytes with errTooLarge.
type bounded struct{ http.RoundTripper }

// RoundTrip makes the request of whoever it wraps.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &body{answer.Body, pageBytes}
	}
	return answer, err
}

// body is an answer of which so many bytes may still be read.
type body struct {
	io.ReadCloser
	left int64
}

// Read reads at most one byte beyond what may be read, to tell the end from more.
func (b *body) Read(into []byte) (n int, err error) {
	if int64(len(into)) > b.left+1 {
		into = into[:b.left+1]
	}
	n, err = b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
