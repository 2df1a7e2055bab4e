// Package policy decides when a latch leaves its level and for which. It is
// pure: a policy, a latch, a sample and an instant go in, the latch with its
// timers advanced and a decision come out; [Decide] for one workload, the
// guards for the fleet. Nothing here reads a clock, a cluster or a repository.
//
// # Thresholds
//
// A [Series] has levels; rounding maps a need to one of them, and the bounds
// that a workload's autoscaler was accepted with are levels too. A latch at
// level D is left
//
//   - upwards, once hold.up consecutive samples are each above D and round to a
//     level above it, for the lowest of those levels: the one that was sustained;
//   - downwards, once samples have rounded to a level below D for hold.down of
//     observed time, even when the margin is added to them, for the level of
//     the highest of those samples with its margin: the peak. At the floor (the
//     lower bound, or 1) there is no margin, so that it can always be reached.
//
// In between, the latch is quiet.
//
// # Rollouts
//
// The rule stands in words beside [DecideRollout], as topic rollouts of the handbook has it.
package policy
