package main

import (
	"bytes"
	"os"
	"testing"
)

// The stand-in of GitLab checks its requests and answers against the file in testdata.
func TestTheDescriptionIsThatOfTheClient(t *testing.T) {
	t.Parallel()
	want, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../testdata/gitlab/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("testdata/gitlab/openapi.json differs: run go -C scripts/gitlabapi run . >testdata/gitlab/openapi.json, and read the diff")
	}
}
