package checkpoint

import (
	"github.com/gitlatch/gitlatch/internal/strict"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Place is the position of a workload's entry in git: a file by its path from the root
// of the repository, and the lines of its facts, from 1; 0 if the fact is absent.
type Place struct {
	File                       string
	Level, Min, Max, Milestone int
}

// Places returns the places of all entries in readable checkpoint files.
func (t Tree) Places() map[workload.ID]Place {
	all := map[workload.ID]Place{}
	for namespace, record := range t.Records {
		file := RecordPath(t.name, namespace)
		r := newReader(file)
		_, _ = parseRecord(r, namespace, t.files[file], t.foreign) // for the line numbers
		for id := range record.Entries {
			line := func(suffix string) int { return r.Line(strict.Child("data", key(id, suffix))) }
			all[id] = Place{File: file, Level: line(""), Min: line(suffixMin), Max: line(suffixMax), Milestone: line(suffixMilestone)}
		}
	}
	return all
}

// Has reports whether the tree has a file, by its path from the root of the repository.
func (t Tree) Has(file string) bool {
	_, ok := t.files[file]
	return ok
}
