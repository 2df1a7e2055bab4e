package repomem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
)

type proposal struct {
	repo.Proposal
	title, body string
	comments    []string
}

// Find returns the newest proposal of a branch.
func (r *Repository) Find(ctx context.Context, branch string) (*repo.Proposal, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.newest(branch); p != nil {
		found := p.Proposal
		return &found, ctx.Err()
	}
	return nil, ctx.Err()
}

func (r *Repository) newest(branch string) (newest *proposal) {
	for _, p := range r.proposals {
		if p.State == repo.ProposalOpen {
			p.Head = r.heads[p.Branch]
		}
		if p.Branch == branch {
			newest = p
		}
	}
	return newest
}

// Ensure opens a proposal or updates the open one.
func (r *Repository) Ensure(ctx context.Context, d repo.Draft) (repo.Proposal, error) {
	if err := ctx.Err(); err != nil {
		return repo.Proposal{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	head, ok := r.heads[d.Branch]
	if !ok {
		return repo.Proposal{}, fmt.Errorf("propose branch %q: %w", d.Branch, repo.ErrNoBranch)
	}
	p := r.newest(d.Branch)
	if p == nil || p.State != repo.ProposalOpen {
		id := strconv.Itoa(len(r.proposals) + 1)
		p = &proposal{Proposal: repo.Proposal{
			ID: id, URL: "mem://proposals/" + id, Branch: d.Branch, State: repo.ProposalOpen, Head: head,
		}}
		r.proposals = append(r.proposals, p)
	}
	p.title, p.body = d.Title, d.Body
	return p.Proposal, nil
}

// Close closes an open proposal with a comment, and removes its branch.
func (r *Repository) Close(ctx context.Context, closing repo.Proposal, why string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.proposal(closing.ID)
	switch {
	case err != nil:
		return err
	case p.State != repo.ProposalOpen:
		return nil
	case r.heads[p.Branch] != closing.Head:
		return fmt.Errorf("close proposal %s: %w", p.ID, repo.ErrMoved)
	}
	for i, step := range []func(){
		func() { p.comments = append(p.comments, why) },
		func() { r.end(p, repo.ProposalClosed) },
		func() { delete(r.heads, p.Branch) },
	} {
		if step(); r.stumble == i+1 {
			r.stumble = 0
			return fmt.Errorf("close proposal %s: the host failed", p.ID)
		}
	}
	return nil
}

// StumbleAfter makes the next closing fail after the given number of its steps: the
// comment, the closing, the removal of the branch. 0 disables it.
func (r *Repository) StumbleAfter(steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stumble = steps
}

func (r *Repository) proposal(id string) (*proposal, error) {
	for _, p := range r.proposals {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("proposal %q does not exist", id)
}

// end gives an open proposal its last state, with the head that it has then.
func (r *Repository) end(p *proposal, state repo.ProposalState) {
	p.State, p.Head = state, r.heads[p.Branch]
}

// A Method is a way of users to merge a proposal.
type Method int

const (
	MergeCommit Method = iota // a commit that has both branches as parents
	Squash                    // one commit with the title of the proposal
	Rebase                    // the one commit of the proposal, with its message, on the base
)

// Merge merges an open proposal like a user. The branch stays. If both sides changed the
// same lines, Merge fails, as in git. A rebase fails if the proposal has several commits.
func (r *Repository) Merge(id string, by Method, when time.Time) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.must(id)
	head := r.heads[p.Branch]
	files, err := r.merged(r.heads[base], head)
	if err != nil {
		return "", fmt.Errorf("merge proposal %s: %w", id, err)
	}
	merge := commit{
		Parents: []string{r.heads[base], head},
		Files:   files,
		Author:  "person",
		Message: "merge " + p.title,
		When:    when.UTC(),
	}
	if by != MergeCommit {
		merge.Parents = merge.Parents[:1]
	}
	switch by {
	case Squash:
		merge.Message = p.title
	case Rebase:
		one := r.commits[head]
		if !slices.Contains(r.ancestry(r.heads[base]), one.Parents[0]) {
			return "", fmt.Errorf("merge proposal %s: it has several commits", id)
		}
		merge.Message = one.Message
		merge.Author = one.Author
		merge.Committer = "person"
		merge.When = one.When
	}
	r.heads[base] = r.add(merge)
	r.end(p, repo.ProposalMerged)
	return r.heads[base], nil
}

// merged returns the files of one commit, with the changes of another since their
// common ancestor.
func (r *Repository) merged(ours, theirs string) (map[string]string, error) {
	below := map[string]bool{}
	for _, id := range r.ancestry(ours) {
		below[id] = true
	}
	parted := r.ancestry(theirs)
	was := r.commits[parted[slices.IndexFunc(parted, func(id string) bool { return below[id] })]].Files
	files, changed := maps.Clone(r.commits[ours].Files), r.commits[theirs].Files
	for path := range union(was, changed) {
		before, had := was[path]
		here, has := files[path]
		there, keeps := changed[path]
		switch {
		case had == keeps && before == there, has == keeps && here == there:
		case had == has && before == here && keeps:
			files[path] = there
		case had == has && before == here:
			delete(files, path)
		default:
			text, ok := mergeLines(before, here, there)
			if !ok || !has || !keeps {
				return nil, fmt.Errorf("conflict in %s", path)
			}
			files[path] = text
		}
	}
	return files, nil
}

// Decline closes an open proposal unmerged like a user; the branch stays.
func (r *Repository) Decline(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(r.must(id), repo.ProposalClosed)
}

// Lose drops a branch and all its proposals, as a host does that could not finish
// replacing a branch.
func (r *Repository) Lose(branch string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.heads, branch)
	r.proposals = slices.DeleteFunc(r.proposals, func(p *proposal) bool { return p.Branch == branch })
}

// Words returns the title, the body and the comments of a proposal.
func (r *Repository) Words(id string) (title, body string, comments []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.must(id)
	return p.title, p.body, p.comments
}

func (r *Repository) must(id string) *proposal {
	p, err := r.proposal(id)
	if err != nil {
		panic(err) // a test names a proposal that was never made
	}
	return p
}

// All returns all proposals, the oldest first.
func (r *Repository) All() (all []repo.Proposal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.proposals {
		r.newest(p.Branch)
		all = append(all, p.Proposal)
	}
	return all
}

// Entitle gives a proposal another title and body.
func (r *Repository) Entitle(id, title, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.must(id)
	p.title, p.body = title, body
}

// Comment adds a comment to a proposal.
func (r *Repository) Comment(id, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.must(id)
	p.comments = append(p.comments, text)
}

// Point makes a branch at a commit. It reports whether the branch did not exist before.
func (r *Repository) Point(branch, commit string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, exists := r.heads[branch]; exists {
		return false
	}
	r.heads[branch] = commit
	return true
}

// Remove removes a branch and closes its open proposals, as CodeCommit does. It returns the
// commit at the branch; "" if the branch did not exist.
func (r *Repository) Remove(branch string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.proposals {
		if p.Branch == branch && p.State == repo.ProposalOpen {
			r.end(p, repo.ProposalClosed)
		}
	}
	head := r.heads[branch]
	delete(r.heads, branch)
	return head
}
