// Package faults puts one fault at a time between a tick and each of the real
// parts that it works with: the API server, the git server, the table, the topic.
// A table says how each part fails and what the tick then says. The tick ends
// within its time with one clear error, and the next calm tick heals. No secret
// shows in anything that is logged, returned, committed, stored or sent.
//
// The package holds tests alone.
package faults
