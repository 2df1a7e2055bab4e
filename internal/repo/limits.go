package repo

import "fmt"

// Whoever may push to the repository decides what is in it, so what is read of
// it is bounded. What goes beyond is left out and noted in Object.Unsafe.
const (
	// MostBytes is how large a file, or the list of what a folder holds, may be.
	// A record is a ConfigMap, which Kubernetes takes up to 1 MiB, and the
	// Component of 10,000 workloads has 3 MiB. A list of 4 MiB has 100,000 names.
	MostBytes = 4 << 20

	// MostRead is how many bytes are held of a repository. A site of 50,000
	// workloads has some 20 MiB. Where there is more, the largest are left out.
	MostRead = 64 << 20

	// MostPaths is how many files and folders are below a directory that is read
	// with all of them, and MostLevels how many folders are within one another.
	MostPaths  = 20_000
	MostLevels = 32
)

// Why a path is left out.
var (
	TooLarge = fmt.Sprintf("is larger than %d MiB, the maximum for a file or for the list of a folder", MostBytes>>20)
	TooMany  = fmt.Sprintf("contains more than %d files and folders, the maximum", MostPaths)
	TooDeep  = fmt.Sprintf("is more than %d folders deep", MostLevels)
	Missing  = "is missing: the server does not send its object"
)
