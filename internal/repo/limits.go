package repo

import "fmt"

// Anyone who may push to the repository decides its content, so reads have limits. An
// adapter leaves out the paths beyond the limits and notes them in Object.Unsafe.
const (
	// MostBytes is the maximum size in bytes of a file, or of a folder's list of entries.
	// A checkpoint file is a ConfigMap, which Kubernetes accepts up to 1 MiB. A
	// list of 4 MiB has 100,000 names.
	MostBytes = 4 << 20

	// MostRead is the maximum number of bytes of a repository in memory. A site of 50,000
	// workloads has about 20 MiB. Beyond the limit, the largest objects are left out.
	MostRead = 64 << 20

	// MostPaths is the maximum number of files and folders below a directory that is read
	// completely. MostLevels is the maximum depth of nested folders.
	MostPaths  = 20_000
	MostLevels = 32
)

// Reasons to leave out a path.
var (
	TooLarge = fmt.Sprintf("is larger than %d MiB, the maximum for a file or for the list of a folder", MostBytes>>20)
	TooMany  = fmt.Sprintf("contains more than %d files and folders, the maximum", MostPaths)
	TooDeep  = fmt.Sprintf("is more than %d folders deep", MostLevels)
	Missing  = "is missing: the repository does not have its object. To find the damage, run \"git fsck\" in the repository"
)
