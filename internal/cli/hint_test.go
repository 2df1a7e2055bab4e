package cli

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A hint follows from the reason of an error, also below other errors.
func TestHintsFollowFromTheReason(t *testing.T) {
	t.Parallel()
	const irregular = "commit a regular file or folder in its place. gitlatch follows no symlink, submodule or Git LFS pointer"
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	refused := &repo.RefusedError{Why: "main is protected"}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{&repo.UnsafeError{Path: "a", Why: "is a symlink"}, []string{irregular}},
		{&repo.UnsafeError{Path: "a", Why: repo.Missing}, nil},
		{&repo.UnsafeError{Path: "a", Why: repo.TooLarge}, nil},
		{refused, []string{refused.Remedy()}},
		{&kube.ServerError{Kind: kube.ErrForbidden, Cause: errors.New("403")}, []string{`give the user or the role of gitlatch the rights in infra/rbac: run "kubectl apply -k infra/rbac"`}},
		{&kube.ServerError{Kind: kube.ErrUnreachable, Cause: dial}, []string{"check the network and the server in the kubeconfig, or choose another cluster with --kubeconfig and --context"}},
		{dial, []string{"check the address of the host in the configuration, and that this machine can reach it"}},
	} {
		err := fmt.Errorf("tick: %w", c.err)
		if got := hintsOf(err); !slices.Equal(got, c.want) {
			t.Errorf("%v: the hints are %q, want %q", err, got, c.want)
		}
	}
}
