// Package units parses spans, shares, moments and targets as users write them. Flags
// and files follow the same rules. The types are values of flags.
package units
