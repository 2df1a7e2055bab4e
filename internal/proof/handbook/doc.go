// Package handbook contains tests of the handbook: its links and commands work, each
// finding, alert and freeze reason of the code has a row, and the reference tables are
// generated from the code.
package handbook
