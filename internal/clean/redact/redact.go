// Package redact removes the secrets of an HTTP request from the text of its response. A
// proxy that fails may repeat the request, and AWS repeats the signed text if a signature
// does not match. Such a text reaches errors, logs and alerts.
package redact

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
)

// longest is the number of bytes that are read of a response with an error.
const longest = 64 << 10

// hidden replaces a secret.
const hidden = "(hidden)"

// Transport returns a transport whose answers repeat no secret of their requests.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ http.RoundTripper }

// RoundTrip makes the request with the wrapped transport.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		Answer(r, answer)
	}
	return answer, err
}

// Answer removes the request's secrets from the body of a response with an error. It
// does not change other responses.
func Answer(r *http.Request, answer *http.Response) {
	secrets := secrets(r.Header)
	if answer.StatusCode < http.StatusBadRequest || len(secrets) == 0 {
		return
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, longest))
	plain := said
	for _, secret := range secrets {
		plain = bytes.ReplaceAll(plain, []byte(secret), []byte(hidden))
	}
	if len(said) == longest { // it may end with the start of a secret
		plain = plain[:max(0, len(plain)-len(secrets[0]))]
	}
	if err == nil {
		err = io.EOF
	}
	answer.Body = body{io.MultiReader(bytes.NewReader(plain), failing{err}), answer.Body}
	if !bytes.Equal(said, plain) {
		answer.ContentLength = -1
		answer.Header.Del("Content-Length")
		answer.Header.Del("X-Amz-Crc32") // the checksum of the original body
	}
}

// body reads from one body, and closes another.
type body struct {
	io.Reader
	io.Closer
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// secrets are the credentials in the header of a request, the longest first.
func secrets(h http.Header) (all []string) {
	all = append(all, h.Get("X-Amz-Security-Token"))
	if scheme, shown, _ := strings.Cut(h.Get("Authorization"), " "); strings.EqualFold(scheme, "Basic") || strings.EqualFold(scheme, "Bearer") {
		all = append(all, shown)
		if pair, err := base64.StdEncoding.DecodeString(shown); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			all = append(all, password)
		}
	}
	return slices.DeleteFunc(all, func(secret string) bool { return secret == "" })
}
