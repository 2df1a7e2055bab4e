package gateway

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"sync/atomic"
)

// Fault answers that a call failed, in the words of the call's own protocol.
func Fault(status int, code, message string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, service := signer(r); service == "ec2" {
			w.Header().Set("Content-Type", "text/xml")
			w.WriteHeader(status)
			_ = xml.NewEncoder(w).Encode(struct {
				XMLName xml.Name `xml:"Response"`
				Code    string   `xml:"Errors>Error>Code"`
				Message string   `xml:"Errors>Error>Message"`
			}{Code: code, Message: message})
			return
		}
		if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
			w.Header().Set("Content-Type", "text/xml")
			w.WriteHeader(status)
			_ = xml.NewEncoder(w).Encode(struct {
				XMLName xml.Name `xml:"ErrorResponse"`
				Code    string   `xml:"Error>Code"`
				Message string   `xml:"Error>Message"`
			}{Code: code, Message: message})
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Amzn-ErrorType", code)
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
	})
}

// Answer answers with a document of JSON.
func Answer(document any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document)
	})
}

// Silent accepts a call, and never answers it.
var Silent = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
})

// InsteadFor makes a handler answer the next n calls of an operation.
func (g *Gateway) InsteadFor(operation string, n int, answer http.Handler) {
	var left atomic.Int64
	left.Store(int64(n))
	g.Intercept(operation, func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if left.Add(-1) >= 0 {
			service = answer
		}
		service.ServeHTTP(w, r)
	})
}

// Intercept puts a function between the calls of an operation and their service. The
// function may forward a call, or answer it.
func (g *Gateway) Intercept(operation string, by func(w http.ResponseWriter, r *http.Request, service http.Handler)) {
	g.Instead(operation, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, service := signer(r)
		by(w, r, g.services[service])
	}))
}
