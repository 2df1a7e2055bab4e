// Package eks stands in for what a cluster of Amazon EKS needs of AWS, so that
// a login can be tested whole: an STS that recomputes each signature, the one
// call of EKS that describes a cluster, and the webhook by which a real API
// server asks who a token is of.
package eks
