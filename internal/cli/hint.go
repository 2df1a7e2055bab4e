package cli

import (
	"errors"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/kube/kubeconfig"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// hints are solutions for errors whose text contains only the problem.
var hints = []struct {
	about func(error) bool
	text  string
}{
	{is[*kubeconfig.Error], "choose a cluster with KUBECONFIG and \"kubectl config use-context\", or with --kubeconfig and --context"},
	{in(kube.ErrUnreachable), "if another cluster is meant, choose it with --kubeconfig and --context"},
	{in(kube.ErrUnauthorized), "log in again, or choose other credentials with --kubeconfig and --context"},
	{is[*workload.UnreadError], "nothing is lowered until all is read; the rights that takes are in infra/rbac, and for kinds of the policy what gitlatch render rights prints"},
	{in(repo.ErrNoBranch), "create the branch, or name another as repository.branch of the configuration"},
	{refused(func(e *repo.RefusedError) bool { return !e.OnDisk && e.What == "" }), "let the identity of repository.auth push to the branch, or name another as repository.branch"},
	{refused(func(e *repo.RefusedError) bool { return !e.OnDisk && e.What != "" }), "let the identity of repository.auth make proposals, or commit to the branch"},
	{refused(func(e *repo.RefusedError) bool { return e.OnDisk }), "a repository on disk takes no login: do as its words say, and see that whoever runs gitlatch may write to its folder"},
	{is[*repo.UnsafeError], "commit a plain file or folder in its place: gitlatch follows nothing out of its own"},
}

func in(kind error) func(error) bool {
	return func(err error) bool { return errors.Is(err, kind) }
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func refused(how func(*repo.RefusedError) bool) func(error) bool {
	return func(err error) bool {
		var e *repo.RefusedError
		return errors.As(err, &e) && how(e)
	}
}
