// Package handbook holds the handbook to what gitlatch is: links and commands that
// work, a row for whatever the code may say, and reference pages that are written
// from the code. It holds tests alone.
package handbook
