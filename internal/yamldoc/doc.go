// Package yamldoc parses YAML documents that users write. Each kind of document has a
// table of fields. The package is pure: it takes bytes, and returns values and problems.
//
// A table is an [Object] with fields. Each field has a name, a description, whether it is
// required, and a [Value], which is bound to a variable. The reader, the JSON schema for
// editors and the examples all use the same table.
//
// The reader ignores nothing. It reports an unknown field, a value of the wrong type, a
// duplicate key and an alias. It reports all problems at once, each with its line, its
// path and a remedy.
package yamldoc
