package cli

import (
	"errors"
	"net"
	"strings"

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
	{is[*kubeconfig.Error], "choose a cluster with --kubeconfig and --context, or with cluster.kubeconfig and cluster.context in the configuration"},
	{in(kube.ErrUnreachable), "check the network and the server in the kubeconfig, or choose another cluster with --kubeconfig and --context"},
	{in(kube.ErrUnauthorized), "log in again, or choose other credentials with --kubeconfig and --context"},
	{in(kube.ErrForbidden), "give the user or the role of gitlatch the rights in infra/rbac: run \"kubectl apply -k infra/rbac\""},
	{elsewhere, "check the address of the host in the configuration, and that this machine can reach it"},
	{is[*workload.UnreadError], "gitlatch lowers no level while a part cannot be listed. If the part is forbidden, run \"kubectl apply -k infra/rbac\", and for kinds of the policy apply the roles that \"gitlatch init -o rbac\" prints"},
	{in(repo.ErrNoBranch), "push a commit to the branch, or set another repository.branch in the configuration"},
	{irregular, "commit a regular file or folder in its place. gitlatch follows no symlink, submodule or Git LFS pointer"},
}

func in(kind error) func(error) bool {
	return func(err error) bool { return errors.Is(err, kind) }
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// elsewhere reports whether a host other than the API server could not be reached.
func elsewhere(err error) bool { return is[*net.OpError](err) && !errors.Is(err, kube.ErrUnreachable) }

// irregular reports whether a path in git is something else than a file or folder.
func irregular(err error) bool {
	var unsafe *repo.UnsafeError
	return errors.As(err, &unsafe) && strings.HasPrefix(unsafe.Why, "is a ")
}

// hintsOf returns the solutions for an error, in the order of the table.
func hintsOf(err error) (texts []string) {
	for _, h := range hints {
		if h.about(err) {
			texts = append(texts, h.text)
		}
	}
	var refused *repo.RefusedError
	if errors.As(err, &refused) {
		texts = append(texts, refused.Remedy())
	}
	return texts
}
