//go:build cluster || aws

package faults

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// TestCluster covers faults of the API server: a real one, which every row reaches over
// HTTP/2 through a separate proxy. State and topic are fakes.
func TestCluster(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 2)
	run(t, clusterRows(), func(t *testing.T, site string) *world { return clustered(t, cp, site) })
}

// clustered creates a site whose namespace has the Deployment web.
func clustered(t *testing.T, cp *controlplane.ControlPlane, site string) *world {
	t.Helper()
	cp.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", site),
		controlplane.Workload("Deployment", site, "web"), controlplane.Workload("Deployment", site, "other"))
	w := newWorld(t, site, "state: {memory: {}}\n")
	p := proxy(t, cp)
	w.names["https://"+p.Listener.Addr().String()] = "API"
	w.fails = func(_ string, do fault) { p.set(w.meets(do)) }
	w.reaches(t, p.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})))
	w.grows = func(t *testing.T, n int32) { scaled(t, cp, site, n) }
	return w
}

// scaled scales the Deployment web, and waits until its pods are ready.
func scaled(t *testing.T, cp *controlplane.ControlPlane, namespace string, n int32) {
	t.Helper()
	cp.Kubectl(t, "", "scale", "-n", namespace, "deployment/web", fmt.Sprintf("--replicas=%d", n))
	path := "/apis/apps/v1/namespaces/" + namespace + "/deployments/web"
	if err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		var web struct {
			Metadata struct{ Generation int64 }
			Status   struct {
				ObservedGeneration               int64
				UpdatedReplicas                  int32
				ReadyReplicas, AvailableReplicas int32
			}
		}
		if err := cp.Read(ctx, path, &web); err != nil {
			return err
		}
		if s := web.Status; s.ObservedGeneration != web.Metadata.Generation || s.ReadyReplicas != n || s.AvailableReplicas != n || s.UpdatedReplicas != n {
			return fmt.Errorf("web is %+v", s)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A proxied API server is a real one behind a proxy with a fault. The proxy accepts only
// the site's own token, and sends the requests as an administrator.
type proxied struct {
	*httptest.Server

	mu sync.Mutex
	do fault
}

func (p *proxied) set(do fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.do = do
}

func proxy(t *testing.T, cp *controlplane.ControlPlane) *proxied {
	t.Helper()
	admin := cp.Config()
	to, err := url.Parse(admin.Host)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(admin.CAData)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	real := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Authorization", "Bearer "+admin.BearerToken)
		},
		Transport:    transport,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p := &proxied{}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+kubeToken {
			apiStatus(401, "Unauthorized", "Unauthorized")(w, r, real)
			return
		}
		p.mu.Lock()
		do := p.do
		p.mu.Unlock()
		if do == nil {
			real.ServeHTTP(w, r)
			return
		}
		r.Header.Set("Accept-Encoding", "identity") // so that half of the body is half of the text
		do(w, r, real)
	}))
	p.EnableHTTP2 = true
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

// apiStatus answers like an API server that refuses a request.
func apiStatus(code int, reason, words string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, words, reason, code)
	}
}

// deployments reports whether a request is a LIST of Deployments.
func deployments(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/deployments") }

// later reports whether a request is for a page after the first.
func later(r *http.Request) bool { return deployments(r) && r.URL.Query().Has("continue") }

// paged makes the real server return pages of one Deployment each.
func paged(do fault) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		do(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if deployments(r) {
				query := r.URL.Query()
				query.Set("limit", "1")
				r.URL.RawQuery = query.Encode()
			}
			next.ServeHTTP(w, r)
		}))
	}
}

// first makes the first n requests fail.
func first(n int, do fault) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		mu.Lock()
		n--
		mine := n >= 0
		mu.Unlock()
		if mine {
			do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

func api(which func(*http.Request) bool, do fault) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) { w.fails("", on(which, do)) }
}

func answers(_ *testing.T, w *world) { w.fails("", nil) }

func clusterRows() []row {
	unread := []string{"unread raised", "surge raised", "unread resolved"}
	busy := apiStatus(429, "TooManyRequests", "Too many requests, please try again later.")
	gone := apiStatus(410, "Expired", "The provided continue parameter is too old")
	return []row{
		{name: "api busy at first", begins: api(every, first(2, busy)), ends: answers},
		{name: "api busy, then silent", begins: api(every, behind(first(2, busy), stalled)), ends: answers, says: "sample: reach the API server at API: context deadline exceeded"},
		{name: "api down", begins: api(every, apiStatus(503, "ServiceUnavailable", "etcd has no leader")), ends: answers, says: "sample: reach the API server at API: service unavailable: etcd has no leader"},
		{name: "api cut", begins: api(every, cut), ends: answers, says: "sample: reach the API server at API: stream error: stream ID N; INTERNAL_ERROR; received from peer"},
		{name: "api silent", begins: api(every, stalled), ends: answers, says: "sample: reach the API server at API: context deadline exceeded"},
		{name: "api slow", begins: api(every, slow), ends: answers},
		{name: "api takes the token no more", begins: api(every, apiStatus(401, "Unauthorized", "Unauthorized")), ends: answers, says: "sample: log in to the API server at API: unauthorized: Unauthorized"},
		{name: "a list fails", begins: api(deployments, apiStatus(500, "InternalError", "Internal error occurred")), ends: answers, says: "not read: deployments: internal server error: Internal error occurred", alerts: unread},
		{name: "a list expires once", begins: func(_ *testing.T, w *world) { w.fails("", paged(on(later, first(1, gone)))) }, ends: answers},
		{name: "a list expires each time", begins: func(_ *testing.T, w *world) { w.fails("", paged(on(later, gone))) }, ends: answers, says: "not read: deployments: gone: The provided continue parameter is too old", alerts: unread},
		{name: "a list cut half-way", begins: api(deployments, half(cut)), ends: answers, says: "not read: deployments: the answer was cut short: stream error: stream ID N; INTERNAL_ERROR; received from peer", alerts: unread},
		{name: "a list that ends half-way", begins: api(deployments, half(ended)), ends: answers, says: "not read: deployments: the response is cut short, or is not from the Kubernetes API. Check for a proxy in between", alerts: unread},
		{name: "a list stalled half-way", begins: api(deployments, half(stalled)), ends: answers, says: "sample: read deployments: context deadline exceeded"},
		{name: "a later page cut", begins: func(_ *testing.T, w *world) { w.fails("", paged(on(later, half(cut)))) }, ends: answers, says: "not read: deployments: the answer was cut short: stream error: stream ID N; INTERNAL_ERROR; received from peer", alerts: unread},
		{name: "a kind turns forbidden", begins: api(deployments, apiStatus(403, "Forbidden", "deployments.apps is forbidden")), ends: answers, says: "not read: deployments: forbidden: deployments.apps is forbidden", alerts: unread},
		{name: "a page of a proxy", begins: api(deployments, status(200, "please log in")), ends: answers, says: "not read: deployments: the response is cut short, or is not from the Kubernetes API. Check for a proxy in between", alerts: unread},
		{name: "a proxy that repeats a list", begins: api(deployments, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			echoed(w, &http.Request{Header: http.Header{"Authorization": r.Header["Authorization"]}}, next)
		}), ends: answers, says: "not read: deployments: bad gateway: an error on the server (\"Authorization: Bearer (hidden)\") has prevented the request from succeeding (get deployments.meta.k8s.io)", alerts: unread},
		{name: "an api that repeats the token", ends: answers, says: "not read: deployments: internal server error: webhook failed: Bearer (hidden)", alerts: unread,
			begins: api(deployments, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				apiStatus(500, "InternalError", "webhook failed: "+r.Header.Get("Authorization"))(w, r, next)
			})},
	}
}
