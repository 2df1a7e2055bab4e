// Package fit judges the answers of internal/fit by schedulers that others wrote. It draws
// random fleets, and places their pods with Karpenter's scheduler (scripts/karpenter), or
// without Karpenter with a real kube-scheduler on nodes of kwok. Then it compares the pods
// that stay pending with the answer.
package fit
