// Package gateway is a part for tests: one address for all services of AWS, to be set
// as AWS_ENDPOINT_URL. It records each call, and sends it on to the stand-in for its
// service or answers it instead.
package gateway

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Gateway has the services for which a test has stand-ins. A call to any other
// service fails the test.
type Gateway struct {
	URL string // http://127.0.0.1:<port>

	t        testing.TB
	services map[string]http.Handler

	mu    sync.Mutex
	calls []Call
	stead map[string]http.Handler
}

// A Call is one that came in.
type Call struct {
	Operation string // service:Operation, as IAM spells the action
	Key       string // the access key that signed it
	Body      []byte
}

// Start starts a gateway to services, each by the name that its calls are signed
// for. It ends with its test.
func Start(t testing.TB, services map[string]string) *Gateway {
	t.Helper()
	// A stand-in closes idle connections. A call on a connection that closes at that
	// moment fails without reaching it, so each call has a separate connection.
	transport := &http.Transport{DisableKeepAlives: true}
	g := &Gateway{t: t, services: map[string]http.Handler{}, stead: map[string]http.Handler{}}
	for name, address := range services {
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		g.services[name] = &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.Out.Host = r.In.Host // which is signed
			},
			Transport: transport,
			// A caller without an answer must not get an error page either.
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		}
	}
	listening := httptest.NewServer(g)
	t.Cleanup(listening.Close)
	g.URL = listening.URL
	return g
}

// Calls returns the calls so far.
func (g *Gateway) Calls() []Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.calls)
}

// Operations returns the operations that a key has called, each once, sorted.
func (g *Gateway) Operations(key string) []string {
	called := map[string]bool{}
	for _, c := range g.Calls() {
		if c.Key == key {
			called[c.Operation] = true
		}
	}
	return slices.Sorted(maps.Keys(called))
}

// Instead makes a handler answer an operation from now on; nil is its service
// again.
func (g *Gateway) Instead(operation string, answer http.Handler) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if answer == nil {
		delete(g.stead, operation)
		return
	}
	g.stead[operation] = answer
}

// ServeHTTP sends one call on.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	key, service := signer(r)
	call := Call{service + ":" + operation(r, service, body), key, body}
	g.mu.Lock()
	g.calls = append(g.calls, call)
	next, known := g.services[service]
	if answer := g.stead[call.Operation]; answer != nil {
		next = answer
	}
	g.mu.Unlock()
	if !known {
		g.t.Errorf("%s was called, and nothing stands in for %q", call.Operation, service)
		http.Error(w, "no such service", http.StatusNotImplemented)
		return
	}
	next.ServeHTTP(w, r)
}

// signer reads the key and the service from the scope of a signature.
func signer(r *http.Request) (key, service string) {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	if parts := strings.Split(scope, "/"); len(parts) == 5 {
		key, service = parts[0], parts[3]
	}
	return key, service
}

// operation returns the called operation: from a header in JSON protocols, from the
// form in query protocols, and otherwise from the method or the path, for a few known
// ones.
func operation(r *http.Request, service string, body []byte) string {
	if name := map[string]string{http.MethodPut: "PutObject", http.MethodGet: "GetObject"}[r.Method]; service == "s3" && name != "" {
		return name
	}
	if _, name, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return name
	}
	form, err := url.ParseQuery(string(body))
	if action := form.Get("Action"); err == nil && action != "" {
		return action
	}
	if parts := strings.Split(r.URL.Path, "/"); r.Method == http.MethodGet && len(parts) > 2 && len(parts) < 6 && parts[1] == "clusters" {
		return []string{"DescribeCluster", "ListNodegroups", "DescribeNodegroup"}[len(parts)-3]
	}
	return r.Method + " " + r.URL.Path
}
