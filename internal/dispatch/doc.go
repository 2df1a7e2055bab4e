// Package dispatch gives the sites of a fleet their turns: when in a period each
// has its own, and how that is said in a message. It reads no clock. The package
// below it sends the messages.
//
// A turn may be given twice, late, or by two dispatchers: the site's lease keeps
// two ticks apart, a tick that finds its turn taken ends, and a turn that is a
// period old is none any more, since the next has come.
package dispatch
