package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/restore/recovery"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// asking contains the flags of status.
type asking struct {
	flags
	output output[status]
}

func newStatus(env Env) *cobra.Command {
	var a asking
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the status of a site or a fleet",
		Long: `"gitlatch status" prints a site's mode, cluster, last tick and remaining commit
budget. The command shows whether the levels in the cluster differ from git. The
output lists open alerts, pauses, workloads in an edit grace period, and the
open pull request. If the policy sets "mode: observe", gitlatch does not update
the entries in git. The command then prints the number of these entries. For a
fleet, the command prints one line for each site.

A recovery is in progress if the live cluster is not the cluster that gitlatch
has saved for the site. A recovery is also in progress if a restore has set
brakes. "gitlatch status" then also prints the steps of the recovery, and the
next action. For the commands of each step, see "gitlatch help runbook".

For one site, "gitlatch status" reads the saved state, git and the cluster.
Without access to git or the cluster, the command reports the recovery as
unknown. For a fleet, "gitlatch status" reads only the saved state and the list
of sites. The command writes nothing.

Exit status:
  0  Every site is healthy.
  1  At least one of these is true:
     - A site has an open alert.
     - A level change of a site is not published yet.
     - A site had no tick in the last three periods.
     - A recovery is in progress, or its state is unknown.
     - The levels in the cluster are unknown.
  2  The command could not read the state.`,
		Example: `  # Show the status of one site
  gitlatch status -c prod-eu.yaml

  # Show the status of every site of a fleet as JSON
  gitlatch status -c fleet-config.yaml -o json`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: timed(longest, func(ctx context.Context, _ []string) error { return a.run(ctx, env) }),
	}
	a.register(c, env)
	a.output.register(c, status.Table, nil)
	return c
}

// A status contains the status of each site in a configuration.
type status struct {
	term.Document
	Build build.Info   `json:"build"`
	Fleet string       `json:"fleet,omitempty"` // name of the fleet; "" for a single site
	Sites []siteStatus `json:"sites"`
}

// A siteStatus is the status of one site in its state.
type siteStatus struct {
	Site     string    `json:"site"`
	Mode     string    `json:"mode,omitempty"`    // latch or observe; "" before the first tick
	Cluster  string    `json:"cluster,omitempty"` // UID of its kube-system namespace
	LastTick time.Time `json:"lastTick,omitzero"` // zero before the first tick
	Late     bool      `json:"late"`              // true if no tick ran for three periods

	Workloads int `json:"workloads"` // number of workloads with a latch
	Entries   int `json:"entries"`   // number of workloads with an entry in git; no tick updates them if Mode is observe
	Frozen    int `json:"frozen"`    // number of frozen workloads that are not opted out
	OptedOut  int `json:"optedOut"`

	CommitsLeft   int `json:"commitsLeft"` // remaining commits of the budget
	CommitsPerDay int `json:"commitsPerDay"`

	PausedUntil time.Time   `json:"pausedUntil,omitzero"` // end of a pause of the site
	Paused      []leftAlone `json:"paused,omitempty"`     // workloads that a user paused
	EditGrace   []leftAlone `json:"editGrace,omitempty"`  // workloads in their edit grace period

	Levels levelsStatus `json:"levels"` // in the cluster

	Proposal    *proposed    `json:"proposal,omitempty"`
	Unpublished time.Time    `json:"unpublishedSince,omitzero"` // since when a level change waits for a commit
	Alerts      []alert.Open `json:"alerts"`
	Unsent      int          `json:"unsent,omitempty"` // messages that may not have been sent

	// Recovery is the progress of a recovery; nil if no recovery runs, and for a site of
	// a fleet.
	Recovery *recovery.Recovery `json:"recovery,omitempty"`

	now   time.Time
	named string // the name of the cluster in the configuration; "" is unknown
}

// A leftAlone is a workload that gitlatch does not change until an instant.
type leftAlone struct {
	Workload workload.ID `json:"workload"`
	Until    time.Time   `json:"until"`
}

// A proposed is an open proposal, which waits for a review.
type proposed struct {
	Branch string    `json:"branch"`
	URL    string    `json:"url,omitempty"`
	Opened time.Time `json:"opened"`
}

func (a *asking) run(ctx context.Context, env Env) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	from := opener(env, c, true)
	s := status{Document: term.DocumentOf("Status"), Build: env.Build, Sites: []siteStatus{}}
	sites := []*wiring.Opener{from}
	if c.Fleet != "" {
		s.Fleet = c.Site
		members, err := (&wiring.Roster{Opener: from}).Read(ctx)
		if err != nil {
			return err
		}
		sites = lists.Map(members, from.Of)
	}
	for _, one := range sites {
		of, err := readStatus(ctx, one, env.Clock(), c.Fleet == "")
		if err != nil {
			return fmt.Errorf("site %s: %w", one.Config.Site, err)
		}
		s.Sites = append(s.Sites, of)
	}
	if err := a.output.write(env, s); err != nil {
		return err
	}
	return unless(s.healthy())
}

// readStatus reads the state of a site. With live, it also reads git and the cluster, for
// the progress of a recovery.
func readStatus(ctx context.Context, from *wiring.Opener, now time.Time, live bool) (siteStatus, error) {
	head, latches, err := readState(ctx, from)
	if err != nil {
		return siteStatus{}, err
	}
	s, err := newStatusOf(from.Config, head, latches, now)
	if err == nil && live {
		s.Recovery = readRecovery(ctx, from, head, latches)
	}
	return s, err
}

// kept returns an error unless the state of a site outlives a command.
func kept(s config.State) error {
	if s.Memory {
		return errors.New(`state.memory: each command starts with an empty state, so gitlatch cannot read or change the state of the ticks. Set state.dynamodb or state.bolt. On AWS, run "gitlatch init --aws" after the deployment`)
	}
	return nil
}

// readState reads the state of a site, and closes it, so that a tick can use it.
func readState(ctx context.Context, from *wiring.Opener) (head latch.Head, latches map[workload.ID]latch.Latch, err error) {
	if err := kept(from.Config.State); err != nil {
		return head, nil, err
	}
	store, err := from.Store(ctx)
	if err != nil {
		return head, nil, err
	}
	defer closed(&err, local.Parts{Store: store})
	return latch.Load(ctx, store, from.Config.Site)
}

// recoveryWithin is the time limit for the reads of git and the cluster.
const recoveryWithin = 30 * time.Second

// readRecovery returns the progress of a recovery, nil if no recovery runs.
func readRecovery(ctx context.Context, from *wiring.Opener, head latch.Head, latches map[workload.ID]latch.Latch) *recovery.Recovery {
	ctx, cancel := context.WithTimeout(ctx, recoveryWithin)
	defer cancel()
	c, err := recoveryOf(ctx, from)
	if err != nil {
		return &recovery.Recovery{Unknown: err.Error()}
	}
	c.Cluster = cmp.Or(head.Cluster.UID, c.Tree.Site.Cluster)
	for id, l := range latches {
		c.Usual[id] = l.Watch.Usual
	}
	return recovery.Of(c)
}

// recoveryOf reads git, the cluster and the demand on its workloads.
func recoveryOf(ctx context.Context, from *wiring.Opener) (c recovery.Case, err error) {
	sampler, err := from.Sampler(ctx)
	if err != nil {
		return c, err
	}
	side := declaredSide{config: from.Config}
	if side.repository, _, err = from.Repository(ctx); err != nil {
		return c, err
	}
	defer closed(&err, local.Parts{Repository: side.repository})
	if err := side.readTip(ctx); err != nil {
		return c, err
	}
	fleet, err := sampler.Sample(ctx, side.set.Kinds)
	return recovery.Case{Tree: side.tree, Fleet: fleet, Usual: map[workload.ID]float64{}}, err
}

func newStatusOf(c config.Config, head latch.Head, latches map[workload.ID]latch.Latch, now time.Time) (siteStatus, error) {
	s := siteStatus{
		Site: c.Site, Cluster: head.Cluster.UID, LastTick: head.At, Workloads: len(latches),
		Levels:      newLevelsStatus(head.Applied),
		Unpublished: head.UnpublishedSince, Unsent: len(head.Outbox), Alerts: append([]alert.Open{}, head.Open...),
		now: now, named: cmp.Or(c.Cluster.EKS.Name, c.Cluster.Context),
	}
	s.Late = !head.At.IsZero() && now.Sub(head.At) > 3*c.Period
	if head.PausedUntil.After(now) {
		s.PausedUntil = head.PausedUntil
	}
	if p := head.Proposal; p != nil {
		s.Proposal = &proposed{p.Branch, p.URL, p.Opened}
	}
	for _, id := range slices.SortedFunc(maps.Keys(latches), workload.Compare) {
		l := latches[id]
		if !l.Declared.IsZero() {
			s.Entries++
		}
		switch {
		case l.OptedOut:
			s.OptedOut++
		case l.Freeze.Reason != "":
			s.Frozen++
		}
		if l.PausedUntil.After(now) {
			s.Paused = append(s.Paused, leftAlone{l.ID, l.PausedUntil})
		}
		if l.GraceUntil.After(now) {
			s.EditGrace = append(s.EditGrace, leftAlone{l.ID, l.GraceUntil})
		}
	}
	if head.At.IsZero() {
		return s, nil
	}
	set, err := local.ParsePolicy(c, c.Repository.PolicyFile, head.Agreed.PolicySource)
	if err != nil {
		return s, err
	}
	s.Mode = "observe"
	if set.Latch {
		s.Mode = "latch"
	}
	s.CommitsPerDay = set.Guards.CommitsPerDay
	if policy.Affords(set.Guards, head.Budget, now) {
		s.CommitsLeft = 1 + int(policy.Spend(set.Guards, head.Budget, now).Tokens)
	}
	return s, nil
}
