// Package charts runs real Helm programs, Argo CD and Flux with charts of four shapes, and
// counts the live replica counts that each of them resets. The charts are in
// testdata/charts.
package charts
