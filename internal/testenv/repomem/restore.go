package repomem

import (
	"encoding/json"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Restore returns a repository that was kept as data: its commits by id, the
// commits at its branches, the base by the name "", and its proposals.
func Restore(data []byte) (*Repository, error) {
	var kept struct {
		Commits   map[string]commit
		Heads     map[string]string
		Proposals []struct {
			repo.Proposal
			Title, Body string
		}
	}
	err := json.Unmarshal(data, &kept)
	r := &Repository{commits: kept.Commits, heads: kept.Heads}
	for _, p := range kept.Proposals {
		r.proposals = append(r.proposals, &proposal{Proposal: p.Proposal, title: p.Title, body: p.Body})
	}
	return r, err
}
