// Package config reads the documents that gitlatch is told by: the [Config] of how
// a site is run, the list of a fleet's sites, and gitlatch.yaml on the branch,
// which becomes a [policy.Set].
//
// Each document is one table of fields (configDocument, policyDocument,
// fleetDocument) that binds names to variables; see package strict, which reads by
// it. The JSON schemas for editors and the example are made from the same table,
// so that no two of them can know different fields.
package config
