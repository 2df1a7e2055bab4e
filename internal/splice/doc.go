// Package splice edits replica counts in place, in files that users own: Helm values,
// overlays, manifests. It edits a number if a marker at the end of its line names the
// workload:
//
//	replicaCount: 100 # {"$gitlatch": "shop/deployment/web"}
//
// [Find] returns the markers of a file and their numbers, [Edit] replaces the numbers.
// Only the digits change. All other bytes stay: comments, quotes, indentation, line
// breaks. A YAML writer would change them.
//
// Find parses the file to find its markers, and Edit changes the bytes. Then Edit parses
// the result, which must have the same values except for the replaced ones. An edit that
// is not safe is refused with its line and a remedy: a number from a template, an alias
// or a merge key, or a number that other places share. For examples see the cases below
// testdata/splice.
//
// The package is pure: bytes in, bytes out.
package splice
