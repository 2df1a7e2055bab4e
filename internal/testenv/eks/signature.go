package eks

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	stampForm = "20060102T150405Z"
	validFor  = 15 * time.Minute
)

// The query parameters of the signature itself.
var brought = []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Security-Token", "X-Amz-Signature"}

// A signature contains the signer and the signed parts that a request states.
type signature struct {
	key, region, service string
	stamp                string
	headers              []string
	token                string
	value                string
}

// caller returns the signer of a request. The signature must cover everything that the
// request states, and only the holder of the secret can have made it.
func (s *Server) caller(r *http.Request, body []byte) (principal, error) {
	given, presigned := read(r)
	who, ok := s.keys[given.key]
	if !ok || given.token != who.token {
		return principal{}, failure{http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid."}
	}
	at, err := time.Parse(stampForm, given.stamp)
	if err != nil || time.Since(at).Abs() > validFor {
		return principal{}, failure{http.StatusForbidden, "SignatureDoesNotMatch", "Signature expired: " + given.stamp}
	}
	again, err := sign(r, body, given, who, at, presigned)
	if err != nil || subtle.ConstantTimeCompare([]byte(again), []byte(given.value)) != 1 {
		return principal{}, failure{http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."}
	}
	return who, nil
}

func read(r *http.Request) (given signature, presigned bool) {
	var scope, headers string
	if query := r.URL.Query(); query.Has("X-Amz-Signature") {
		presigned = true
		scope, headers = query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders")
		given.stamp, given.token, given.value = query.Get("X-Amz-Date"), query.Get("X-Amz-Security-Token"), query.Get("X-Amz-Signature")
	} else {
		parts := map[string]string{}
		for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
			name, value, _ := strings.Cut(part, "=")
			parts[name] = value
		}
		scope, headers = parts["Credential"], parts["SignedHeaders"]
		given.stamp, given.token, given.value = r.Header.Get("X-Amz-Date"), r.Header.Get("X-Amz-Security-Token"), parts["Signature"]
	}
	if parts := strings.Split(scope, "/"); len(parts) == 5 {
		given.key, given.region, given.service = parts[0], parts[2], parts[3]
	}
	given.headers = strings.Split(headers, ";")
	return given, presigned
}

// sign signs the signed parts of a request with the secret that the server has.
func sign(r *http.Request, body []byte, given signature, who principal, at time.Time, presigned bool) (string, error) {
	target := &url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawQuery: r.URL.RawQuery}
	if presigned {
		query := r.URL.Query()
		for _, name := range brought {
			query.Del(name)
		}
		target.RawQuery = query.Encode()
	}
	copied, err := http.NewRequestWithContext(r.Context(), r.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	for _, name := range given.headers {
		if values := r.Header.Values(name); values != nil && name != "host" {
			copied.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	hash := sha256.Sum256(body)
	payload := hex.EncodeToString(hash[:])
	key := aws.Credentials{AccessKeyID: given.key, SecretAccessKey: who.secret, SessionToken: who.token}
	signer := v4.NewSigner()
	if !presigned {
		err := signer.SignHTTP(r.Context(), key, copied, payload, given.service, given.region, at)
		again, _ := read(copied)
		return again.value, err
	}
	signed, _, err := signer.PresignHTTP(r.Context(), key, copied, payload, given.service, given.region, at)
	if err != nil {
		return "", err
	}
	again, err := url.Parse(signed)
	if err != nil {
		return "", err
	}
	return again.Query().Get("X-Amz-Signature"), nil
}
