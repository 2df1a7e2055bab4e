// Package discreet keeps the secrets of a request out of the words of its answer.
// A proxy that fails may repeat what it was sent, and AWS repeats all that was
// signed where a signature does not fit. Such words go on into errors, logs and
// alerts.
package discreet

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
)

// longest is how many bytes are read of an answer that is an error.
const longest = 64 << 10

// hidden stands where a secret was.
const hidden = "(hidden)"

// Transport returns a transport whose answers repeat no secret of their requests.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ http.RoundTripper }

// RoundTrip makes the request of whoever it wraps.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		Answer(r, answer)
	}
	return answer, err
}

// Answer takes the request's secrets out of the body of an answer that is an
// error. Other answers are left as they are.
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
	if len(said) == longest { // its end may be the begin of a secret
		plain = plain[:max(0, len(plain)-len(secrets[0]))]
	}
	if err == nil {
		err = io.EOF
	}
	answer.Body = body{io.MultiReader(bytes.NewReader(plain), failing{err}), answer.Body}
	if !bytes.Equal(said, plain) {
		answer.ContentLength = -1
		answer.Header.Del("Content-Length")
		answer.Header.Del("X-Amz-Crc32") // it was of what was said
	}
}

// body is read from one, and closes another.
type body struct {
	io.Reader
	io.Closer
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// secrets are what a request shows who it is from, the longest first.
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
