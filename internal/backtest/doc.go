// Package backtest computes the effect of policies on past samples: the commits a day, the
// share of the needed pods that a rebuild starts, and the surplus. It compares them with a
// job that commits all replica counts every hour. It is pure: it takes samples and
// policies, and returns figures.
//
// [policy.Round] makes the decisions for each candidate, as in a tick, with the guards
// and the budget of a site. It does not have its own implementation.
//
// A past has less information than a cluster. The package assumes that an autoscaler
// drives each workload, and that it never rolls out. A site in mode observe runs in mode
// latch. Level changes for review are merged at once. If two samples of a workload are
// more than three periods apart, the time between them does not count.
package backtest
