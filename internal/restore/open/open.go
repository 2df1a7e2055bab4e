// Package open opens a restore of a configured site: its cluster and its levels in git. A
// restore does not use the state of the site.
package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Group is the Kubernetes group whose members may restore. Rights is the folder with its
// rights.
const (
	Group  = "gitlatch:restorers"
	Rights = "infra/rbac/restore"
)

// A Site is a site that can be restored.
type Site struct {
	Server string // URL of the cluster's API server

	opener *wiring.Opener
	client *cluster.Client
	eks    *eks.Cluster // nil for a cluster of a kubeconfig
	policy error        // error of the policy that defines custom kinds; may be nil
}

// Open opens the cluster of a site. For EKS, it asks AWS for the address of the cluster.
// It sends no request to the cluster.
func Open(ctx context.Context, o *wiring.Opener) (*Site, error) {
	o.Group = Group
	o.Rights = Rights
	found, of, err := o.Client(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	client, err := cluster.New(found)
	if err != nil {
		return nil, err
	}
	return &Site{Server: client.Server(), opener: o, client: client, eks: of}, nil
}

// Restore returns a run over the site, at the default pace. Before a run that raises,
// call Declared, which also reads the kinds of the site.
func (s *Site) Restore() *restore.Restore {
	return &restore.Restore{
		Site: s.opener.Config.Site, Kinds: s.client.Kinds, Policy: s.policy, Cluster: s.client, Clock: s.opener.Clock,
		Wait: func(ctx context.Context, d time.Duration) { _ = backoff.Sleep(ctx, d) }, // the run checks ctx itself
		Pace: restore.Pace(),
		Hold: restore.Hold, Every: restore.Every, Recheck: restore.Recheck,
	}
}

// Declared reads the site's checkpoint files on the branch. If the site has custom kinds,
// it also reads the policy, which defines them.
func (s *Site) Declared(ctx context.Context) (tree checkpoint.Tree, err error) {
	r, _, err := s.opener.Repository(ctx)
	if err != nil {
		return checkpoint.Tree{}, err
	}
	if c, ok := r.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	tip, _, err := r.Heads(ctx)
	if err != nil {
		return checkpoint.Tree{}, err
	}
	tree, directory, err := ledger.TreeAt(ctx, r, tip, s.opener.Config.Site)
	if err == nil && directory == "" {
		return checkpoint.Tree{}, fmt.Errorf("site %s: the branch has no level for it: %s does not exist", s.opener.Config.Site, checkpoint.Directory(s.opener.Config.Site))
	}
	if err == nil && len(tree.Site.Kinds) > 0 {
		s.client.Kinds, s.policy = s.kinds(ctx, r, tip)
	}
	return tree, err
}

// kinds returns the kinds that the policy at a commit defines. If the policy file is
// gone, it returns the kinds in the last version of the file, and an error.
func (s *Site) kinds(ctx context.Context, r repo.Repository, commit string) (workload.Kinds, error) {
	file := s.opener.Config.Repository.PolicyFile
	objects, err := r.Read(ctx, commit, nil, file)
	found := objects[file]
	var gone error
	if err == nil && found.ID == "" {
		var last history.Version
		last, err = history.Last(ctx, r, commit, file)
		found = last.Object
		gone = errors.New(last.Gone(file))
	}
	if err != nil {
		return nil, unnamed(err)
	}
	set, err := local.ParsePolicy(s.opener.Config, file, found.Files[file])
	if err != nil {
		return nil, unnamed(err)
	}
	return set.Kinds, gone
}

// unnamed explains an error that leaves the custom kinds unknown.
func unnamed(err error) error {
	return fmt.Errorf("cannot restore workloads of the kinds that the policy names: %w", err)
}

// Explain adds the solution to an error of an EKS cluster.
func (s *Site) Explain(ctx context.Context, err error) error {
	if s.eks == nil || err == nil {
		return err
	}
	return s.eks.Refused(ctx, err)
}
