package site

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/config"
)

// A Roster is the list of a fleet's sites, as the branch has it. It alone says
// which cluster a site is, and by which role and branch it is run.
type Roster struct {
	Opener *Opener // of the fleet

	id      string // of the list in git
	members []config.Member
}

// Read takes the list from git, where it is another than the last one. With an
// error it returns the one before, where there was one: a bad merge is not to stop
// all ticks.
func (r *Roster) Read(ctx context.Context) ([]config.Member, error) {
	err := r.read(ctx)
	return r.members, err
}

func (r *Roster) read(ctx context.Context) (err error) {
	file := r.Opener.Config.Fleet
	from, _, err := r.Opener.Repository(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, Parts{Repository: from}.Close()) }()
	tip, _, err := from.Heads(ctx)
	if err != nil {
		return err
	}
	found, err := from.Read(ctx, tip, map[string]string{file: r.id}, file)
	if err != nil {
		return err
	}
	o := found[file]
	switch o.ID {
	case "":
		return fmt.Errorf("%s is not on branch %s. Commit a file of kind %s there", file, r.Opener.Config.Repository.Branch, config.KindFleet)
	case r.id:
		return nil
	}
	members, err := config.ParseFleet(file, o.Files[file])
	if err != nil {
		return err
	}
	r.id, r.members = o.ID, members
	return nil
}
