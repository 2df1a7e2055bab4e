// Package openapi is a part for tests: it checks the requests and answers of a stand-in
// against the description of the host's API in testdata.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// A Contract is a host's description of its API.
type Contract struct{ doc *openapi3.T }

var loaded sync.Map // a function that returns a description, by its host

// Read reads testdata/HOST/openapi.json, once.
func Read(t testing.TB, host string) *Contract {
	t.Helper()
	load, _ := loaded.LoadOrStore(host, sync.OnceValues(func() (*openapi3.T, error) {
		_, here, _, _ := runtime.Caller(0)
		return openapi3.NewLoader().LoadFromFile(filepath.Join(filepath.Dir(here), "../../../testdata", host, "openapi.json"))
	}))
	doc, err := load.(func() (*openapi3.T, error))()
	if err != nil {
		t.Fatalf("read the description of the API of %s: %v", host, err)
	}
	return &Contract{doc}
}

// input is a request as the description's operation of a pattern.
func (c *Contract) input(pattern string, r *http.Request) (*openapi3filter.RequestValidationInput, error) {
	_, path, _ := strings.Cut(pattern, " ")
	path = strings.ReplaceAll(path, "...}", "}")
	item := c.doc.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil, fmt.Errorf("%s is not described", pattern)
	}
	params := map[string]string{}
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			params[name] = r.PathValue(name)
		}
	}
	return &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params,
		Route:   &routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}, nil
}

// Request checks a request of a pattern such as "GET /repos/{owner}/{repo}/pulls". Each
// parameter of its query must be described.
func (c *Contract) Request(pattern string, r *http.Request) error {
	in, err := c.input(pattern, r)
	if err != nil {
		return err
	}
	for name := range r.URL.Query() {
		if in.Route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			return fmt.Errorf("the query has %s, which is not described", name)
		}
	}
	return openapi3filter.ValidateRequest(r.Context(), in)
}

// general are the statuses that any operation may answer with, whether or not
// it is described to.
var general = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}

// Answer returns a checked answer with the given fields, and with the minimum of the
// other fields that the description requires.
func (c *Contract) Answer(pattern string, r *http.Request, status int, says any) ([]byte, error) {
	in, err := c.input(pattern, r)
	if err != nil {
		return nil, err
	}
	described := in.Route.Operation.Responses.Status(status)
	switch {
	case described == nil && slices.Contains(general, status):
		return json.Marshal(says)
	case described == nil:
		return nil, fmt.Errorf("%d is not described", status)
	case says == nil:
		return nil, nil
	}
	media := described.Value.Content.Get("application/json")
	if media == nil {
		return nil, fmt.Errorf("%d is described to have no content", status)
	}
	body, err := json.Marshal(fill(media.Schema.Value, says))
	if err != nil {
		return nil, err
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Options: in.Options,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
	}
	return body, openapi3filter.ValidateResponse(r.Context(), out.SetBodyBytes(body))
}

// fill adds the missing fields to a value that its schema requires.
func fill(s *openapi3.Schema, says any) any {
	switch v := says.(type) {
	case []any:
		filled := make([]any, len(v))
		for i := range v {
			filled[i] = fill(s.Items.Value, v[i])
		}
		return filled
	case map[string]any:
		whole, ok := least(s).(map[string]any)
		if !ok {
			return v
		}
		whole = maps.Clone(whole)
		for key, value := range v {
			whole[key] = value
			if p := property(s, key); p != nil {
				whole[key] = fill(p, value)
			}
		}
		return whole
	}
	return says
}

func property(s *openapi3.Schema, name string) *openapi3.Schema {
	if p := s.Properties[name]; p != nil {
		return p.Value
	}
	for _, part := range choice(s) {
		if p := property(part.Value, name); p != nil {
			return p
		}
	}
	return nil
}

// choice returns the parts of a schema; if they are alternatives, only the first.
func choice(s *openapi3.Schema) openapi3.SchemaRefs {
	for _, one := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		if len(one) > 0 {
			return one[:1]
		}
	}
	return s.AllOf
}

// least is the least that satisfies a schema.
func least(s *openapi3.Schema) any {
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is("array"):
		return []any{}
	case s.Type.Is("boolean"):
		return false
	case s.Type.Is("integer"), s.Type.Is("number"):
		return 1
	case s.Type.Is("string"):
		return map[string]string{"uri": "https://example.com", "date-time": "2026-11-02T08:00:00Z"}[s.Format]
	}
	object := map[string]any{}
	for _, part := range choice(s) {
		if below, ok := least(part.Value).(map[string]any); ok {
			maps.Copy(object, below)
		}
	}
	for _, name := range s.Required {
		if p := property(s, name); p != nil {
			object[name] = least(p)
		}
	}
	return object
}
