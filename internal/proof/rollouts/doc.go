// Package rollouts measures the rule of rollouts over many simulated lives: for how
// much of the time in flight git says the wrong thing, and how many commits that
// takes. It holds tests alone.
//
// # Worlds
//
// A life is 12 hours of one workload, a Deployment or one of a kind that judges no
// rollout itself, looked at every 1, 5 or 15 minutes. It has 24 commits a day, and
// rolls out about seven times. Half of the rollouts have trouble: they are overtaken,
// undone, fail and are fixed, are halted, held at 0 %, scaled in, not read, not looked
// at, slow, cannot create pods for some minutes, or crash past the cut. That is harsher
// than life: compare figures with one another only.
//
// These lengths are ours. Four in five rollouts take 4 to 16 minutes where nothing is
// wrong, the fifth an hour or so. Pushes to a busy trunk come every 3 to 12 minutes,
// up to 11 in a row. People take 20 minutes to 2 hours to fix what failed, and to let
// go on what they halted. Looks fail for 5 to 20 minutes.
//
// # Measures
//
// A wrong minute is one in which git is on the wrong side, by one of the kinds of
// [wrongs]. Wrong minutes are per 1,000 minutes in flight. A target fails visibly when
// its controller says so, and when no pod has come for 10 minutes and none will: slow
// pods are healthy.
//
//   - new, though failed: visibly failing for more than a period, and git brings the target
//   - new below the cut: a record says new, the target serves less than the cut
//   - old past the cut: a record says old, the target is past the cut and healthy for
//     more than two periods
//   - late: below the cut, 25 minutes or more into a flight, nothing recorded
//   - stale old: a record says old after the rollout's end, or in an undo to another
//     template
//   - dead old: the old template of a record has no pods and another serves
//
// Failed undos that are not recorded are counted apart.
package rollouts
