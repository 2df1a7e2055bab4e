// Package handbook compares the handbook with gitlatch: links and commands must work,
// each message of the code has a row, and the reference pages are generated from the
// code. It contains only tests.
package handbook
