// Package rollouts measures the rule of rollouts over many simulated lives: for how
// much of the time in flight git says the wrong thing, and how many commits that
// takes. It holds tests alone.
//
// # Worlds
//
// A life is 12 hours of one workload, a Deployment or one of a kind that judges no
// rollout itself, looked at every 1, 5 or 15 minutes. It rolls out about seven times.
// Half of the rollouts have trouble: they are overtaken, undone, fail and are fixed, are
// halted, held at 0 %, scaled in, not read, not looked at, slow, cannot create pods for
// some minutes, or crash past the cut. That is harsher than life, so that figures are
// to be compared with one another only.
//
// # Measures
//
// A wrong minute is one in flight in which git is on the wrong side, by one of the
// kinds of [wrongs]; the end of a record that outlives its rollout counts, too. Wrong
// minutes are per 1,000 minutes in flight.
package rollouts
