package checkpoint

import (
	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Place is where git declares a workload: a file by its path from the root of
// the repository, and lines in it, from 1; 0 is a fact that is not there.
type Place struct {
	File                       string
	Level, Min, Max, Milestone int
}

// Places are the places of all entries that could be read.
func (t Tree) Places() map[workload.ID]Place {
	all := map[workload.ID]Place{}
	for namespace, r := range t.Records {
		file := RecordPath(t.name, namespace)
		line := keyLines(t.files[file])
		for id := range r.Entries {
			all[id] = Place{
				File: file, Level: line[key(id, "")], Min: line[key(id, suffixMin)], Max: line[key(id, suffixMax)],
				Milestone: line[key(id, suffixMilestone)],
			}
		}
	}
	return all
}

// Has reports whether the tree holds a file, by its path from the root of the
// repository.
func (t Tree) Has(file string) bool {
	_, ok := t.files[file]
	return ok
}

// keyLines are the lines of the keys below data.
func keyLines(record []byte) map[string]int {
	lines := map[string]int{}
	var doc yaml.Node
	if yaml.Unmarshal(record, &doc) != nil || len(doc.Content) == 0 {
		return lines
	}
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value != "data" {
			continue
		}
		for j := 0; j < len(top[i+1].Content); j += 2 {
			lines[top[i+1].Content[j].Value] = top[i+1].Content[j].Line
		}
	}
	return lines
}
