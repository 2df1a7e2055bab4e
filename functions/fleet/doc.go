// Package dispatch gives the sites of a fleet their turns: the time of each site in a
// period, and the message about it. The package does not read the clock. Package queue
// sends the messages.
//
// A turn may be delivered twice, late, or by two dispatchers. The site's lease excludes
// two ticks at the same time, and a tick ends if another tick has already used its turn.
// A turn that is one period old has expired, because the next one is due.
package fleet
