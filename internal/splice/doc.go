// Package splice edits counts in place, in files that people own: Helm values,
// overlays, manifests. A count is edited where the end of its line says whose
// it is:
//
//	replicaCount: 100 # {"$gitlatch": "shop/deployment/web"}
//
// [Find] says what is marked in a file and what stands there, [Edit] puts other
// numbers in. Only the digits change. Every other byte stays as it is, which
// no writer of YAML would leave so: comments, quotes, indentation, line breaks.
//
// A mark is found by parsing the file and edited in its bytes; then the result
// is parsed too, and must hold the same values but for those that were to
// change. What cannot be edited safely is refused with its line and what to do
// about it: a count that comes from a template, an alias or a merge key, or one
// that others share; see the cases below testdata/splice.
//
// The package is pure: bytes in, bytes out.
package splice
