// Package stack holds no code, only the tests of what is deployed: template.yaml
// and the templates in infra.
//
// Contracts hold the template to the code: what it sets is what is read, what it
// grants is what is called, what it alarms on is what is emitted. They need Go
// alone. Validators, from PyPI and npm, hold it to CloudFormation, IAM and the
// rules in infra/guard. A table of defects, each a small change of the real
// template, shows that each of them catches what it is there for.
package stack
