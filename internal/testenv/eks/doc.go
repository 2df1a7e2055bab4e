// Package eks is a stand-in for the AWS parts of an Amazon EKS cluster, for tests of a
// complete login: an STS that recomputes each signature, the EKS call that describes a
// cluster, and the webhook that a real API server asks for the identity of a token.
package eks
