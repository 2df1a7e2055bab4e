// Package doctor answers, for each workload, how a rebuild from git would start it. It reads
// the live cluster and builds nothing. Each question is one function from the readings to an
// [Answer], which is observed, stated by a user, or unknown.
package doctor
