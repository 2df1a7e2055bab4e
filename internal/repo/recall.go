package repo

// Recaller is a Repository that can start with a tree that an earlier process read. A
// tick saves the tree above its site's directory, because users' commits seldom change
// that tree.
type Recaller interface {
	// Tree returns the tree at a path of a commit, as git stores it. It sends no request: it
	// returns nil if the tree is not in memory, and if it is too large to be saved.
	Tree(commit, path string) []byte
	// Recall adds such a tree to memory. Read and Commit find a tree by the hash of its
	// content, so a tree that is no longer in git has no effect.
	Recall(tree []byte)
}
