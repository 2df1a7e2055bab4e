// Package versions runs tests of other packages on each version of Kubernetes that
// scripts/controlplane builds, and writes the table of tested versions.
package versions
