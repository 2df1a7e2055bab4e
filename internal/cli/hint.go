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
	{in(kube.ErrUnreachable), "for another cluster, use --kubeconfig and --context"},
	{in(kube.ErrUnauthorized), "log in again, or choose other credentials with --kubeconfig and --context"},
	{is[*workload.UnreadError], "gitlatch lowers no level until then. Give it the rights in infra/rbac, and for kinds of the policy the roles that \"gitlatch init -o rbac\" prints"},
	{in(repo.ErrNoBranch), "create the branch, or set another repository.branch in the configuration"},
	{refused(func(e *repo.RefusedError) bool { return !e.OnDisk && e.What == "" }), "let the identity of repository.auth push to the branch, or set another repository.branch"},
	{refused(func(e *repo.RefusedError) bool { return !e.OnDisk && e.What != "" }), "let the identity of repository.auth open pull requests, or set repository.mode: direct"},
	{refused(func(e *repo.RefusedError) bool { return e.OnDisk }), "follow the error text, and check that the user that runs gitlatch can write to the repository's folder"},
	{is[*repo.UnsafeError], "commit a regular file or folder in its place. gitlatch follows no symlink, submodule or Git LFS pointer"},
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
