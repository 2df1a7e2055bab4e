// Package backtest says what a policy would have done in the past: how often it
// would have committed, how much of the need would have been declared, and how
// much more than the need. It is pure: samples and policies go in, figures come
// out.
//
// Each candidate is run by [policy.Decide], with the guards of a site, its
// budget and its one commit a tick: there is no second implementation that could
// be kinder.
//
// A past knows less than a cluster does. What it holds is taken to be driven by
// an autoscaler, to be kept inert, and never to roll out; a site that observes is
// run as one that latches; a crossing for review is taken to be merged at once.
// What was not sampled was not observed: time between two samples of a workload
// that are more than three periods apart counts for nothing.
package backtest
