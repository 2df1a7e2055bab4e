// Package strict reads YAML documents that people write, by a table of fields
// for each kind of document. It is pure: bytes go in, and values and problems
// come out.
//
// A table is an [Object] of fields, each with its name, what it is for, whether
// it is required, and the [Value] that it holds. A value is bound to a variable.
// The reader, the JSON schema for editors and examples are all made from the same
// table.
//
// Nothing is passed over. An unknown field, a value of the wrong type, a key that
// stands twice and an alias are problems, and all problems are told at once, each
// with its line, its path and what to do.
package strict
