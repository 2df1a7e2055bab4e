// Package policy decides when a latch leaves its level, and for which level. [Round] makes
// every decision about a site. It is pure: it takes the state, the policies and a sample, and
// returns the state with advanced timers and the decisions. The package reads no clock, no
// cluster and no repository.
//
// # Thresholds
//
// A [Series] has levels. Rounding maps the desired replicas to a level. The accepted minimum
// and maximum replicas of a workload's autoscaler are levels as well. A latch at level D
// moves
//
//   - up, when hold.up consecutive samples are above D and round to a level above D. The new
//     level is the lowest of these levels, because the workload sustained it.
//   - down, when all samples for hold.down of observed time round to a level below D, also
//     with the margin added. The new level is the level of the highest of these samples, the
//     peak. At the floor (the minimum, or 1) there is no margin, so the floor can always be
//     reached.
//
// In between, the latch is quiet.
//
// # Rollouts
//
// [DecideRollout] has the rule in words. The topic rollouts of the handbook has the same rule.
package policy
