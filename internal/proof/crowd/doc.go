// Package crowd lets many processes tick at once against one branch of a real git
// server and one table, four for each site, while people push to the same branch.
// Processes are killed, and stall until their lease has ended. What must hold is read
// from git itself, and from what the processes were allowed to save. It holds tests
// alone.
package crowd
