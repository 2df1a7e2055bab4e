// Package stack contains no code, only the tests of the deployed templates:
// template.yaml and the templates in infra.
//
// Contracts compare the template with the code: the code reads every setting, calls
// every granted operation, and emits every metric with an alarm. They need only Go.
// Validators from PyPI and npm compare the template with CloudFormation, IAM and the
// rules in infra/guard. A table of defects, each a small change to the real template,
// proves that each check detects its defect.
package stack
