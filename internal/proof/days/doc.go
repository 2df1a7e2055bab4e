// Package days lets the real tick sample a thousand workloads for a month, in one
// process like a warm function. git is a bare repository on disk, and state is the save
// of the latest tick. A leak of memory would add up, and a commit beyond the budget
// would show. The package contains only tests.
package days
