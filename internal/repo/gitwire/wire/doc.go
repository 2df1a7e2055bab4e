// Package wire implements git's protocol with a server, over HTTP or SSH.
//
// It does not first ask for the features of a server. It assumes protocol version 2 and
// partial clone, so a check of an unmoved branch is one request. Only if a request fails,
// it asks the server for its features, and uses an older protocol if they are missing.
package wire
