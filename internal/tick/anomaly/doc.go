// Package anomaly finds unusual conditions of workloads: facts that a checkpoint depends
// on and that monitoring does not show, such as more desired pods than git accepts.
//
// Each kind of condition is a rule. From the first sample that matches a rule, an episode
// runs. Its condition is raised once the episode has lasted for the rule's hold, and is
// over at the first sample that does not match. A sample that does not show whether the
// rule matches starts no episode, raises no condition and ends no episode.
//
// The package is pure. A latch remembers episodes and the usual work of its workload. An
// ordinary sample changes neither, so that it causes no write.
package anomaly
