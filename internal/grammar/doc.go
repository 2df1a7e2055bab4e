// Package grammar is how people write a span, a share, a moment and a target: one
// rule for each, in flags and in files alike. The types are values of flags.
package grammar
