package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// hints say what to do about errors that say only what is wrong, in the words of
// the stack.
var hints = []struct {
	about func(error) bool
	text  string
}{
	{func(err error) bool { var unread *workload.UnreadError; return errors.As(err, &unread) },
		"nothing is lowered until all is read; where that is forbidden: kubectl apply -k infra/rbac"},
	{func(err error) bool { return errors.Is(err, repo.ErrNoBranch) },
		"create the branch, or deploy the stack with another Branch"},
}

// hinted adds to an error what to do about it and those joined in it.
func hinted(err error) error {
	var todo []string
	for _, h := range hints {
		if err != nil && h.about(err) {
			todo = append(todo, h.text)
		}
	}
	if len(todo) == 0 {
		return err
	}
	return fmt.Errorf("%w; what to do: %s", err, strings.Join(todo, "; "))
}
