package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go"
)

type object = map[string]any

// The values in the paths of the calls. describe puts the names of the parameters in
// their place.
const (
	project = "platform/eu/fleet"
	number  = 77
	branch  = "gitlatch/prod-eu"
)

var parameters = []struct{ value, name, kind string }{
	{"platform%2Feu%2Ffleet", "id", "string"},
	{strconv.Itoa(number), "merge_request_iid", "integer"},
	{"gitlatch%2Fprod-eu", "branch", "string"},
}

// An operation is a call of the client.
type operation struct {
	call     func(*gitlab.Client) error
	query    any // options of the call; nil without
	body     any
	required []string
	status   int
	answer   any // nil has no content
}

var operations = []operation{
	{
		call: func(c *gitlab.Client) error {
			_, _, err := c.MergeRequests.ListProjectMergeRequests(project, &gitlab.ListProjectMergeRequestsOptions{})
			return err
		},
		query: gitlab.ListProjectMergeRequestsOptions{}, status: http.StatusOK, answer: []gitlab.BasicMergeRequest{},
	},
	{
		call: func(c *gitlab.Client) error {
			_, _, err := c.MergeRequests.CreateMergeRequest(project, &gitlab.CreateMergeRequestOptions{})
			return err
		},
		body: gitlab.CreateMergeRequestOptions{}, required: []string{"source_branch", "target_branch", "title"},
		status: http.StatusCreated, answer: gitlab.MergeRequest{},
	},
	{
		call: func(c *gitlab.Client) error {
			_, _, err := c.MergeRequests.UpdateMergeRequest(project, number, &gitlab.UpdateMergeRequestOptions{})
			return err
		},
		body: gitlab.UpdateMergeRequestOptions{}, status: http.StatusOK, answer: gitlab.MergeRequest{},
	},
	{
		call: func(c *gitlab.Client) error {
			_, _, err := c.Notes.CreateMergeRequestNote(project, number, &gitlab.CreateMergeRequestNoteOptions{})
			return err
		},
		body: gitlab.CreateMergeRequestNoteOptions{}, required: []string{"body"}, status: http.StatusCreated, answer: gitlab.Note{},
	},
	{
		call: func(c *gitlab.Client) error {
			_, err := c.Branches.DeleteBranch(project, branch)
			return err
		},
		status: http.StatusNoContent,
	},
}

// states are the states of a merge request in an answer.
var states = []string{"opened", "closed", "locked", "merged"}

// values are the values that GitLab's documentation lists for a field.
var values = map[string][]string{
	"state":       {"opened", "closed", "locked", "merged", "all"},
	"order_by":    {"created_at", "merged_at", "title", "updated_at"},
	"sort":        {"asc", "desc"},
	"state_event": {"close", "reopen"},
}

// refusals are the statuses of errors.
var refusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}

// describe returns the description in the form of OpenAPI 3.0.
func describe() ([]byte, error) {
	paths := object{}
	for _, o := range operations {
		method, path, err := o.sent()
		if err != nil {
			return nil, err
		}
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(method)] = o.described(path)
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	err := out.Encode(object{
		"openapi": "3.0.3", "info": object{"title": "GitLab, by the types of its Go client", "version": "v4"},
		"servers": []any{}, "paths": paths,
	})
	return text.Bytes(), err
}

// sent calls the operation, and returns the method and the path of its request.
func (o operation) sent() (method, path string, err error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method = r.Method
		path = r.URL.EscapedPath()
		w.WriteHeader(o.status)
		if o.status != http.StatusNoContent {
			fmt.Fprint(w, map[bool]string{true: "[]", false: "{}"}[reflect.TypeOf(o.answer).Kind() == reflect.Slice])
		}
	}))
	defer server.Close()
	client, err := gitlab.NewClient("token", gitlab.WithBaseURL(server.URL), gitlab.WithCustomRetryMax(0))
	if err != nil {
		return "", "", err
	}
	if err := o.call(client); err != nil {
		return "", "", err
	}
	path = strings.TrimPrefix(path, "/api/v4")
	for _, p := range parameters {
		path = strings.Replace(path, "/"+p.value, "/{"+p.name+"}", 1)
	}
	return method, path, nil
}

func (o operation) described(path string) object {
	says := object{"responses": o.responses()}
	all := []any{}
	for _, p := range parameters {
		if strings.Contains(path, "{"+p.name+"}") {
			all = append(all, object{"name": p.name, "in": "path", "required": true, "schema": object{"type": p.kind}})
		}
	}
	if o.query != nil {
		own := fields(reflect.TypeOf(o.query), "url")
		for i, f := range own {
			if slices.ContainsFunc(own[i+1:], func(later field) bool { return later.name == f.name }) {
				continue // an outer field hides it
			}
			all = append(all, object{"name": f.name, "in": "query", "schema": limited(f.name, schema(f.kind, nil))})
		}
	}
	says["parameters"] = all
	if o.body != nil {
		content := schema(reflect.TypeOf(o.body), nil)
		for name, property := range content["properties"].(object) {
			content["properties"].(object)[name] = limited(name, property.(object))
		}
		delete(content, "nullable")
		delete(content, "required") // the client sends a field only if it is set
		if o.required != nil {
			content["required"] = o.required
		}
		says["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": content}}}
	}
	return says
}

// limited adds the values of a field.
func limited(name string, s object) object {
	if values[name] != nil {
		s["enum"] = values[name]
	}
	return s
}

func (o operation) responses() object {
	success := object{"description": "success"}
	if o.answer != nil {
		content := schema(reflect.TypeOf(o.answer), nil)
		success["content"] = object{"application/json": object{"schema": content}}
		if items, many := content["items"].(object); many {
			content = items
		}
		if state, is := content["properties"].(object)["state"].(object); is {
			state["enum"] = states
			state["nullable"] = false
		}
	}
	all := object{strconv.Itoa(o.status): success}
	for _, status := range refusals {
		all[strconv.Itoa(status)] = object{"description": "an error", "content": object{"application/json": object{"schema": object{"type": "object"}}}}
	}
	return all
}

// A field is a field of a structure, with the name in a request or an answer.
type field struct {
	name string
	kind reflect.Type
}

// fields returns the fields of a structure, and of the structures in it.
func fields(t reflect.Type, tag string) (all []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, fields(f.Type, tag)...)
		case f.IsExported() && name != "" && name != "-":
			all = append(all, field{name, f.Type})
		}
	}
	return all
}

var instant = reflect.TypeFor[time.Time]()

// schema returns the schema of a type. GitLab may answer null for each field. within are
// the structures around it: a structure in itself is any object.
func schema(t reflect.Type, within []reflect.Type) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	custom := t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch kind := t.Kind(); {
	case t == instant:
		return object{"type": "string", "format": "date-time", "nullable": true}
	case kind == reflect.Struct && slices.Contains(within, t):
		return object{"type": "object", "nullable": true}
	case kind == reflect.Struct && (len(within) == 0 || !custom):
		return structure(t, append(slices.Clone(within), t))
	case custom:
		return object{"nullable": true}
	case kind == reflect.Slice:
		return object{"type": "array", "nullable": len(within) > 0, "items": schema(t.Elem(), within)}
	case kind == reflect.String:
		return object{"type": "string", "nullable": true}
	case kind == reflect.Bool:
		return object{"type": "boolean", "nullable": true}
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return object{"type": "integer", "nullable": true}
	case kind == reflect.Float32, kind == reflect.Float64:
		return object{"type": "number", "nullable": true}
	}
	return object{"nullable": true}
}

// structure returns the schema of an object that has all fields of a structure and no
// others.
func structure(t reflect.Type, within []reflect.Type) object {
	properties := object{}
	for _, f := range fields(t, "json") {
		properties[f.name] = schema(f.kind, within)
	}
	names := []string{}
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return object{"type": "object", "nullable": len(within) > 1, "properties": properties, "required": names, "additionalProperties": false}
}
