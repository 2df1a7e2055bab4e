package report

import (
	"io"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// NewLogger returns a logger for Lambda's log format: JSON with the fields timestamp,
// level and message. Lambda's level filter treats a line as INFO if its timestamp has
// another name or format.
func NewLogger(w io.Writer, clock func() time.Time) zerolog.Logger {
	zerolog.TimestampFieldName = "timestamp"
	zerolog.TimeFieldFormat = time.RFC3339Nano
	zerolog.LevelFieldMarshalFunc = func(l zerolog.Level) string { return strings.ToUpper(l.String()) }
	zerolog.TimestampFunc = func() time.Time { return clock().UTC() }
	return zerolog.New(w).With().Timestamp().Logger()
}

// Log writes a line for each published level change, notice and problem, and one line for
// the tick with its numbers.
func Log(log zerolog.Logger, r tick.Report, took time.Duration, failed error) {
	log = log.With().Str("site", r.Site).Logger()
	commit := ""
	if r.Commit != nil {
		commit = r.Commit.ID
		for _, d := range r.Commit.Changes {
			line := log.Info().Str("workload", d.ID.String()).Str("commit", commit).Str("why", d.Text).Bool("urgent", d.Urgent)
			if d.Reading == policy.ReadingRollout {
				line = number(number(line, "fromMilestone", d.Reading.Of(d.From)), "toMilestone", d.Reading.Of(d.To))
				line.Int32("available", d.Count).Msg("rollout")
				continue
			}
			line = number(number(line, "from", d.Reading.Of(d.From)), "to", d.Reading.Of(d.To))
			line.Int32("replicas", d.Count).Bool("surge", d.Surge).Msg("crossing")
		}
	}
	for _, n := range r.Notices {
		log.Info().Str("kind", string(n.Kind)).Str("subject", n.Subject).Str("text", n.Text).Msg("notice")
	}
	for _, p := range r.Problems {
		log.Warn().Err(p).Msg("problem")
	}
	line := log.Info()
	if failed != nil {
		line = log.Error().Err(failed)
	}
	counts, workloads := Counts(r.Decisions), lists.Count(r.Decisions, ofScale)
	line.Str("build", build.Read().String()).Str("cluster", r.Cluster).Time("at", r.At).Bool("dryRun", r.DryRun).Bool("observe", r.Observe).
		Str("held", r.NotRun).Str("stop", string(r.Stop.Reason)).Strs("unread", workload.Texts(r.Unread)).
		Int("workloads", workloads).Int("rollouts", len(r.Decisions)-workloads).
		Int("quiet", counts[policy.Quiet]).Int("pending", counts[policy.Pending]).Int("crossings", counts[policy.Cross]).
		Int("frozen", counts[policy.Frozen]).Int("review", counts[policy.Review]).Int("skipped", counts[policy.Skip]).
		Str("commit", commit).Dur("took_ms", took).Msg("tick")
}

// number adds a number to a line, unless it is nil.
func number(line *zerolog.Event, name string, n *int32) *zerolog.Event {
	if n == nil {
		return line
	}
	return line.Int32(name, *n)
}

// ofScale reports whether a decision is about the replicas of a workload. Each workload
// has one such decision.
func ofScale(d policy.Decision) bool { return d.Reading == policy.ReadingScale }

// Counts returns the number of decisions for each verdict.
func Counts(decisions []policy.Decision) map[policy.Verdict]int {
	counts := map[policy.Verdict]int{}
	for _, d := range decisions {
		counts[d.Verdict]++
	}
	return counts
}
