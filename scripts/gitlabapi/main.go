// Command gitlabapi writes a description of the operations of GitLab's API that gitlatch
// calls. GitLab's own Go client decides the paths, the fields and their types. The
// statuses and the required fields are from GitLab's documentation.
//
//	go -C scripts/gitlabapi run . >testdata/gitlab/openapi.json
package main

import (
	"fmt"
	"os"
)

func main() {
	text, err := describe()
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gitlabapi:", err)
		os.Exit(1)
	}
}
