package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const whole = `{
  "openapi": "3.0.3", "info": {"title": "t"}, "servers": [], "tags": [1], "x-webhooks": {},
  "paths": {
    "/a": {
      "get": {"summary": "s", "parameters": [{"$ref": "#/components/parameters/p"}], "responses": {"200": {"description": "kept", "content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/loop"}, "examples": {"e": {"$ref": "#/components/examples/e"}}}}}}},
      "post": {"responses": {"204": {"description": "not called"}}}
    },
    "/b": {"get": {}}
  },
  "components": {
    "parameters": {"p": {"name": "p", "in": "query"}, "unused": {}},
    "schemas": {
      "loop": {"example": 1, "properties": {"next": {"$ref": "#/components/schemas/loop"}, "summary": {"type": "string", "example": "x"}, "other": {"$ref": "#/components/schemas/other"}}},
      "other": {"type": "string"}, "unused": {}
    },
    "examples": {"e": {}}
  }
}`

const pruned = `{"components":{"parameters":{"p":{"in":"query","name":"p"}},"schemas":{"loop":{"properties":{"next":{"$ref":"#/components/schemas/loop"},"other":{"$ref":"#/components/schemas/other"},"summary":{"type":"string"}}},"other":{"type":"string"}}},"info":{"title":"t"},"openapi":"3.0.3","paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/p"}],"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/loop"}}},"description":"kept"}}}}},"servers":[]}`

func TestOnlyWhatIsCalledAndWhatItRefersToIsLeft(t *testing.T) {
	t.Parallel()
	var in object
	if err := json.Unmarshal([]byte(whole), &in); err != nil {
		t.Fatal(err)
	}
	out, err := prune(in, map[string][]string{"/a": {"get"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(out); string(got) != pruned {
		t.Errorf("pruned is\n%s\nwant\n%s", got, pruned)
	}
	for path, want := range map[string]string{"/c": "there is no path /c", "/b": "path /b has no post"} {
		if _, err := prune(in, map[string][]string{path: {"post"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
