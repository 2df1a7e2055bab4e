// Package days lets the real tick look at a thousand workloads for a month, in one
// process as a warm function is: git is a bare repository on disk, and state what the
// latest tick saved. What a tick leaves behind in memory would add up, and what it
// commits beyond its budget would show. It holds tests alone.
package days
