package doctor

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Account reads the limits of an AWS account. subnets are the IDs of the subnets of
// NodePools. It lists the values that it could not read in Missing.
type Account func(ctx context.Context, subnets []string) limits.Account

// ReadRoom reads the limits of a rebuild: of the standby cluster and its account. If
// standby is nil, it is the cluster of the case. If account is nil, the limits of the account
// are missing. A rebuild in a standby cluster also needs room for the workloads of this
// cluster.
func (c *Case) ReadRoom(ctx context.Context, standby Lister, account Account) {
	c.Room = c.Cluster.Objects
	if standby != nil {
		c.Room = ReadCluster(ctx, standby, c.Kinds()).Objects
		c.Room.Join(&c.Cluster.Objects)
	}
	if account != nil {
		c.Account = account(ctx, c.Room.Subnets())
	}
}

// levels returns the levels in git.
func (e *examination) levels() map[workload.ID]int32 {
	all := map[workload.ID]int32{}
	for id, entry := range e.Tree.Entries() {
		all[id] = entry.Replicas
	}
	return all
}
