// Package faults puts one fault at a time between a tick and each of its real parts:
// the API server, the git server, the table, the topic. A table lists each part's
// faults and the tick's error. The tick ends within its time with one clear error, and
// the next calm tick recovers. No secret appears in anything that is logged, returned,
// committed, stored or sent.
//
// The package contains only tests.
package faults
