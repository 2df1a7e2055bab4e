package repo

import (
	"context"
	"errors"
)

// Tagger is a Repository that can tag commits. Not every host can: the API of CodeCommit
// has no tags.
type Tagger interface {
	// Tag makes refs/tags/<name> for a commit. It returns nil if the commit already has
	// the tag, and ErrTagged if another commit has it. Repeating the call does not change
	// ErrTagged. Other errors are the errors of Repository.Commit.
	Tag(ctx context.Context, name, commit string) error
}

// ErrTagged means that another commit has the tag.
var ErrTagged = errors.New("another commit has this tag")
