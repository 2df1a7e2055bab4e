// Package rebuild proves what the product is for, on real control planes: a
// cluster that is thrown away and rebuilt from git serves its load sooner with
// the checkpoints than without, its autoscalers own the counts soon after, and
// no look at the half-grown cluster lowers what git declares. It holds tests
// alone; README.md says what they measure, and under which load.
package rebuild
