// Package rebuild proves the purpose of the product on real control planes. A cluster
// that is thrown away and rebuilt from git serves its load sooner with the checkpoints
// than without. Its autoscalers own the replicas soon after, and no sample of the
// half-grown cluster lowers a level in git. The package contains only tests. README.md
// describes the measurements and the load.
package rebuild
