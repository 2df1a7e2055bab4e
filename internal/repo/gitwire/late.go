package gitwire

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// A late remote connects before its first request.
type late struct {
	url     string
	connect func(context.Context) (remote, error)
	opened  remote // nil before the first request
}

var _ remote = (*late)(nil)

func (l *late) open(ctx context.Context) (err error) {
	if l.opened == nil {
		l.opened, err = l.connect(ctx)
	}
	return err
}

func (l *late) Heads(ctx context.Context, branches []plumbing.ReferenceName) ([]plumbing.Hash, error) {
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	return l.opened.Heads(ctx, branches)
}

func (l *late) Branches(ctx context.Context) ([]string, error) {
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	return l.opened.Branches(ctx)
}

func (l *late) Fetch(ctx context.Context, into *pack.Objects, commit plumbing.Hash, ids []plumbing.Hash, whole bool) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	return l.opened.Fetch(ctx, into, commit, ids, whole)
}

func (l *late) Deepen(ctx context.Context, into *pack.Objects, commit plumbing.Hash, depth int) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	return l.opened.Deepen(ctx, into, commit, depth)
}

func (l *late) Between(ctx context.Context, into *pack.Objects, base, commit plumbing.Hash) (bool, error) {
	if err := l.open(ctx); err != nil {
		return false, err
	}
	return l.opened.Between(ctx, into, base, commit)
}

func (l *late) Push(ctx context.Context, branch plumbing.ReferenceName, old plumbing.Hash, made []pack.Object) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	return l.opened.Push(ctx, branch, old, made)
}

func (l *late) Close() error {
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

func (l *late) String() string { return l.url }
