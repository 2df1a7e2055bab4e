// Package simulator plays random histories of a site against the laws of package law. A
// history is a list of lines of a story, drawn from a seed. A history that breaks a law
// is shrunk, and printed as a scenario.
//
// # What the model draws
//
// A site has 12 to 15 workloads in four namespaces: Deployments, StatefulSets, Rollouts of
// Argo and one custom kind. Up to five have a ScaledObject of KEDA, some have no
// autoscaler, and some choose a policy by annotation. The policy of the site is drawn: the
// presets, series, rounding, stabilization windows, margins, surges with review, minimum
// and maximum, rollouts, budget, and up to three policies by namespace, kind and
// annotation. Files events.go and mortal.go list the events. Each event of mortal.go may
// have a tick that dies before, between or after its lines.
//
// Some histories have the adapters of CodeCommit and DynamoDB, over services in memory that
// enforce conditions. A fault then also comes between the steps of a proposal and between the
// writes of a save. Flag -clouds sets their share.
//
// # What the model does not draw
//
// Events:
//   - Two faults of the process inside one tick, and a fault inside a tick that a rival
//     runs.
//   - A store that loses a part of its latches, or returns an old read. Other suites:
//     latchtest, and the stories state-lost-of-one.
//   - A restore of git from a backup, and a change of the site's name.
//   - A policy file at another path in the configuration, and a configuration with another
//     period. Stories: policy-at-another-path.
//   - Demand that is measured outside of the cluster, load metrics, and replicas that a user
//     wrote over an autoscaler. Package anomaly tests these conditions.
//   - Canaries of Flagger, DaemonSets, and StatefulSets with a partition. Package rollouts
//     draws the life of rollouts.
//   - A user who edits site.yaml or the trailers of a commit, and names that do
//     not fit into a checkpoint file.
//   - A user's reply to an alert.
//
// Policies:
//   - Match by label, mode observe for more than one event, and a hold
//     of more than two hours. The histories have no day, so a preset's 26 hours never pass.
//   - More than one custom kind, and fields for replicas other than .spec.replicas.
//
// Hosts and stores:
//   - The adapters of GitHub and git. Package repotest compares them with the repository in
//     memory, and package faults kills ticks between their requests.
//   - Concurrent writes of one save, and the retries of AWS's client. The latches are written
//     in their order. CodeCommit's clock is the clock of the tick.
//   - A limit for the size of a commit in bytes. The model limits the number of files.
//   - A host that deletes the branch with the merge. A rebase of several commits.
//   - Sampling of more than one cluster in one tick, and a fleet of sites that share a lease.
//
// # Counts
//
// A run prints its ticks and violations, and the rarest event, the rarest pair of an event
// and a death, and the rarest state that a tick found in git. An event counts only if it is
// possible in its history, such as a merge on a host with pull requests. A pair counts only
// if a tick died. A run of 1,200,000 ticks or more fails if it drew an event fewer than 1,000
// times, found a state fewer than 1,000 times, or had a pair fewer than 50 times.
package simulator
