package main

import (
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// hinted adds a solution to errors that do not have one, in the terms of the stack.
func hinted(err error) error {
	var unread *workload.UnreadError
	if errors.As(err, &unread) {
		err = fmt.Errorf("%w. gitlatch lowers no level until then. If the API server forbids it, run \"kubectl apply -k infra/rbac\"", err)
	}
	if errors.Is(err, repo.ErrNoBranch) {
		err = fmt.Errorf("%w. Create the branch, or deploy the stack with another Branch", err)
	}
	return err
}
