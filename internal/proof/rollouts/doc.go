// Package rollouts measures the rule for rollouts in many simulated lives: the share of
// the time in flight with a wrong entry in git, and the number of commits. It contains
// only tests.
//
// # Worlds
//
// A life is 12 hours of one workload, a Deployment or a kind that does not judge its
// own rollouts, with a sample every 1, 5 or 15 minutes. It has 24 commits a day, and
// about seven rollouts. Half of the rollouts have trouble: they are overtaken, undone,
// fail and are fixed, are halted, stopped at 0 %, scaled in, not read, not sampled,
// slow, cannot create pods for some minutes, or crash past the cut. That is harsher
// than real life: compare the figures with one another only.
//
// These durations are ours. Four in five rollouts without trouble take 4 to 16 minutes,
// the fifth an hour or so. Pushes to a busy trunk come every 3 to 12 minutes, up to 11
// in a row. Users take 20 minutes to 2 hours to fix a failed rollout, and to resume a
// halted one. Samples fail for 5 to 20 minutes.
//
// # Measures
//
// A wrong minute is a minute in which git has the wrong side, by one of the kinds of
// [wrongs]. Wrong minutes are per 1,000 minutes in flight. A target fails visibly if its
// controller reports a failure, or if no pod became available for 10 minutes and the
// rollout is stuck. A rollout with slow pods is not stuck.
//
//   - new, though failed: the target visibly fails for more than a period, and git still has it
//   - new below the cut: an entry has the new side, and the target serves less than the cut
//   - old past the cut: an entry has the old side, and the target is past the cut and healthy
//     for more than two periods
//   - late: below the cut, 25 minutes or more into a rollout, without an entry
//   - stale old: an entry has the old side after the rollout's end, or in an undo to another
//     template
//   - dead old: the old template of an entry has no pods and another serves
//
// Failed undos without an entry are counted separately.
package rollouts
