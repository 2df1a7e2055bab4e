package repo

import (
	"context"
	"errors"
)

// Tagger is a Repository that can give commits names. Not every host has that: the
// API of CodeCommit knows no tags.
type Tagger interface {
	// Tag names a commit by refs/tags/<name>. A commit that has the name already is
	// no error; where another has it that is ErrTagged, and stays so. Other errors
	// are as of Repository.Commit.
	Tag(ctx context.Context, name, commit string) error
}

// ErrTagged says that another commit has the name.
var ErrTagged = errors.New("another commit has this tag")
