package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// A Roster is the list of a fleet's sites in git. It decides the cluster, the role and
// the branch of each site.
type Roster struct {
	Opener *Opener // opener of the fleet

	id      string // id of the list in git
	members []config.Member
}

// Read reads the list from git, if it has changed. If it returns an error, it also
// returns the last valid list, if any: a bad merge must not stop all ticks. The next Read
// then logs in again.
func (r *Roster) Read(ctx context.Context) (_ []config.Member, err error) {
	defer func() {
		if err != nil {
			r.Opener.Forget()
		}
	}()
	file := r.Opener.Config.Fleet
	from, _, err := r.Opener.Repository(ctx)
	if err != nil {
		return r.members, err
	}
	defer func() { err = errors.Join(err, local.Parts{Repository: from}.Close()) }()
	tip, _, err := from.Heads(ctx)
	if err != nil {
		return r.members, err
	}
	found, err := from.Read(ctx, tip, map[string]string{file: r.id}, file)
	if err != nil {
		return r.members, err
	}
	o := found[file]
	switch o.ID {
	case "":
		return r.members, fmt.Errorf("%s is not on branch %s. Commit a file of kind %s there", file, r.Opener.Config.Repository.Branch, config.KindFleet)
	case r.id:
		return r.members, nil
	}
	members, err := config.ParseFleet(file, o.Files[file])
	if err != nil {
		return r.members, err
	}
	r.id, r.members = o.ID, members
	return members, nil
}
