// Package wire speaks git's protocol with a server, over HTTP or SSH.
//
// It does not ask beforehand what a server can do. It assumes the best (protocol version 2,
// partial clone), so that a look at an unmoved branch is one request. Only if something
// fails, it asks the server for its features, and works in an older way without them.
package wire
