package doctor

import (
	"context"
	"slices"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
)

// An Account adds the quotas, subnets and node groups of an AWS account to the room in a
// cluster. It lists the parts that it could not read in Unknown of the room.
type Account func(ctx context.Context, room fit.Room, in *objects.Set) fit.Room

// ReadRoom sets the room for a rebuild in the standby cluster and its account. If standby
// is nil, it is the cluster of the case. If account is nil, the values of the account are
// unknown. A rebuild in a standby cluster also needs room for the workloads of this cluster.
func (c *Case) ReadRoom(ctx context.Context, standby Lister, account Account) {
	in := &c.Cluster.Objects
	if standby != nil {
		there := ReadCluster(ctx, standby, c.Kinds()).Objects
		there.Unknown = append(there.Unknown, in.Unknown...)
		in.Join(&there)
		in = &there
	}
	c.Room = in.Room(nil)
	if account != nil {
		c.Room = account(ctx, c.Room, in)
	}
	c.Room.Unknown = append(c.Room.Unknown, in.Unread(account != nil)...)
}

// place sets the answer to the question whether a rebuild fits: each workload with a level
// at its level, and the other live workloads at their live replicas.
func (e *examination) place() {
	wants := slices.DeleteFunc(e.levels(), func(w objects.Want) bool { return w.Pods == 0 }) // the entry has only a rollout
	others := e.Cluster.Objects.Others(wants)
	asks, unknown := e.Cluster.Objects.Only(append(wants, others...))
	room := e.Room
	room.Unknown = append(slices.Clone(room.Unknown), unknown...)
	e.report.Fit = fit.Judge(asks, room)
}
