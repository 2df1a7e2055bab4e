// Package config parses the documents that configure gitlatch: the [Config] of a site,
// the list of a fleet's sites, and gitlatch.yaml on the branch, which becomes a
// [policy.Set].
//
// Each document has a table of fields (configDocument, policyDocument, fleetDocument),
// which binds names to variables. Package strict reads documents with these tables. The
// JSON schemas for editors and the example are generated from the same tables, so they
// all have the same fields.
package config
