// Package crowd lets many processes tick at once against one branch of a real git
// server and one table, four for each site, while users push to the same branch.
// Processes are killed, and stall until their lease has ended. The tests check git
// itself, and the saves that the store allowed. The package contains only tests.
package crowd
