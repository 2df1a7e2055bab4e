// Package backtest computes the effect of a policy on past samples: the number of
// commits, the share of the desired replicas that the levels cover, and the waste above
// them. It is pure: it takes samples and policies, and returns figures.
//
// [policy.Round] makes the decisions for each candidate, as in a tick, with the guards
// and the budget of a site. It does not have its own implementation.
//
// A past has less information than a cluster. The package assumes that an autoscaler
// drives each workload, that a rule protects its live replica count, and that it never
// rolls out. A site in mode observe runs in mode latch. Level changes for review are
// merged at once. If two samples of a workload are more than three periods apart, the
// time between them does not count.
package backtest
