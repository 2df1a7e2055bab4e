package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// tagger returns the repository as a Tagger, or nil if the drill sets no tag.
func (r *Run) tagger() (repo.Tagger, error) {
	if !r.Tag {
		return nil, nil
	}
	tagger, ok := r.Tick.Repository.(repo.Tagger)
	if !ok {
		return nil, fmt.Errorf("tag the drill: the API of %v has no tags. Run the drill without --tag, and tag its commit with git", r.Tick.Repository)
	}
	return tagger, nil
}

// tag tags the scored commit with the day of the drill. If that tag exists, it uses the
// time to the second.
func tag(ctx context.Context, by repo.Tagger, d drill.Document) drill.Document {
	if by == nil {
		return d
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02T150405Z"} {
		name := "drill/" + d.At.UTC().Format(layout)
		err := by.Tag(ctx, name, d.Commit)
		if err == nil {
			d.Tag = name
			return d
		}
		if !errors.Is(err, repo.ErrTagged) {
			return d.Problem(err)
		}
	}
	return d.Problem(fmt.Errorf("tag the drill: %w", repo.ErrTagged))
}
