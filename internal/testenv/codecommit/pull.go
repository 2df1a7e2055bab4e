package codecommit

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A pull is a pull request.
type pull struct {
	id, repository  string
	origin          *gitserver.Origin
	title, body     string
	source, into    string
	head, base      string // the commits at both branches, as last seen
	open            bool
	mergedAs, token string
	comments        []string
}

// look updates an open pull request from its branches, and closes it if one of them was
// removed.
func (p *pull) look() {
	if !p.open {
		return
	}
	head, base := p.origin.Tip(p.source), p.origin.Tip(p.into)
	if head == "" || base == "" {
		p.open = false
		return
	}
	p.head, p.base = head, base
}

func (p *pull) answer() any {
	p.look()
	status := map[bool]string{true: "OPEN", false: "CLOSED"}[p.open]
	base, _ := git(p.origin, "", nil, "merge-base", p.head, p.base)
	merge := m{"isMerged": p.mergedAs != ""}
	if p.mergedAs != "" {
		merge["mergeCommitId"], merge["mergedBy"] = p.mergedAs, "arn:aws:iam::111122223333:user/person"
	}
	return m{"pullRequest": m{
		"pullRequestId": p.id, "title": p.title, "description": p.body, "pullRequestStatus": status,
		"authorArn": "arn:aws:sts::111122223333:assumed-role/latch/latch", "creationDate": gitserver.Epoch.Unix(),
		"lastActivityDate": gitserver.Epoch.Unix(), "clientRequestToken": p.token, "revisionId": "1", "approvalRules": []m{},
		"pullRequestTargets": []m{{
			"repositoryName": p.repository, "sourceReference": "refs/heads/" + p.source, "destinationReference": "refs/heads/" + p.into,
			"sourceCommit": p.head, "destinationCommit": p.base, "mergeBase": base, "mergeMetadata": merge,
		}},
	}}
}

func (s *Server) pull(id string) (*pull, error) {
	for _, p := range s.pulls {
		if p.id == id {
			p.look()
			return p, nil
		}
	}
	return nil, fault("PullRequestDoesNotExistException", id+" does not exist")
}

// opened returns the pull request, or an error if it is closed.
func (s *Server) opened(id string) (*pull, error) {
	p, err := s.pull(id)
	if err == nil && !p.open {
		err = fault("PullRequestAlreadyClosedException", "The pull request status cannot be updated because it is already closed.")
	}
	return p, err
}

// pageSize is small, so that clients have to turn the page.
const pageSize = 3

func (s *Server) listPullRequests(in struct {
	RepositoryName, PullRequestStatus, NextToken string
}) (any, error) {
	if _, err := s.origin(in.RepositoryName); err != nil {
		return nil, err
	}
	ids := []string{}
	for _, p := range slices.Backward(s.pulls) {
		p.look()
		if p.repository == in.RepositoryName && (in.PullRequestStatus == "" || (in.PullRequestStatus == "OPEN") == p.open) {
			ids = append(ids, p.id)
		}
	}
	from, _ := strconv.Atoi(in.NextToken)
	if from > len(ids) || from < 0 {
		return nil, fault("InvalidContinuationTokenException", in.NextToken)
	}
	answer := m{"pullRequestIds": ids[from:]}
	if len(ids)-from > pageSize {
		answer = m{"pullRequestIds": ids[from : from+pageSize], "nextToken": strconv.Itoa(from + pageSize)}
	}
	return answer, nil
}

func (s *Server) getPullRequest(in struct{ PullRequestId string }) (any, error) {
	p, err := s.pull(in.PullRequestId)
	if err != nil {
		return nil, err
	}
	return p.answer(), nil
}

func (s *Server) createPullRequest(in struct {
	Title, Description, ClientRequestToken string
	Targets                                []struct{ RepositoryName, SourceReference, DestinationReference string }
}) (any, error) {
	switch {
	case len(in.Targets) != 1:
		return nil, fault("TargetRequiredException", "One target is required.")
	case in.Title == "" || len([]rune(in.Title)) > 150:
		return nil, fault("InvalidTitleException", "The title must have 1 to 150 characters.")
	case len([]rune(in.Description)) > 10240:
		return nil, fault("InvalidDescriptionException", "The description is too long.")
	}
	t := in.Targets[0]
	o, err := s.origin(t.RepositoryName)
	if err != nil {
		return nil, err
	}
	for _, p := range s.pulls {
		if in.ClientRequestToken != "" && p.token == in.ClientRequestToken {
			return p.answer(), nil
		}
	}
	p := &pull{
		id: strconv.Itoa(len(s.pulls) + 1), repository: t.RepositoryName, origin: o, open: true, token: in.ClientRequestToken,
		title: in.Title, body: in.Description,
		source: strings.TrimPrefix(t.SourceReference, "refs/heads/"), into: strings.TrimPrefix(t.DestinationReference, "refs/heads/"),
	}
	switch p.look(); {
	case !p.open:
		return nil, fault("ReferenceDoesNotExistException", "The specified reference does not exist: "+t.SourceReference)
	case p.source == p.into || p.head == p.base:
		return nil, fault("SourceAndDestinationAreSameException", "The source branch and destination branch for the pull request are the same.")
	}
	s.pulls = append(s.pulls, p)
	return p.answer(), nil
}

func (s *Server) updateTitle(in struct{ PullRequestId, Title string }) (any, error) {
	p, err := s.opened(in.PullRequestId)
	if err != nil {
		return nil, err
	}
	if in.Title == "" || len([]rune(in.Title)) > 150 {
		return nil, fault("InvalidTitleException", "The title must have 1 to 150 characters.")
	}
	p.title = in.Title
	return p.answer(), nil
}

func (s *Server) updateDescription(in struct{ PullRequestId, Description string }) (any, error) {
	p, err := s.opened(in.PullRequestId)
	if err != nil {
		return nil, err
	}
	p.body = in.Description
	return p.answer(), nil
}

func (s *Server) updateStatus(in struct{ PullRequestId, PullRequestStatus string }) (any, error) {
	p, err := s.opened(in.PullRequestId)
	switch {
	case err != nil:
		return nil, err
	case in.PullRequestStatus != "CLOSED":
		return nil, fault("InvalidPullRequestStatusUpdateException", "The only valid status update is from OPEN to CLOSED.")
	}
	p.open = false
	return p.answer(), nil
}

func (s *Server) postComment(in struct {
	RepositoryName, PullRequestId, BeforeCommitId, AfterCommitId, Content, ClientRequestToken string
}) (any, error) {
	o, err := s.origin(in.RepositoryName)
	if err != nil {
		return nil, err
	}
	p, err := s.pull(in.PullRequestId)
	if err != nil {
		return nil, err
	}
	for _, id := range []string{in.BeforeCommitId, in.AfterCommitId} {
		if _, err := git(o, "", nil, "cat-file", "-e", id+"^{commit}"); id == "" || err != nil {
			return nil, fault("CommitDoesNotExistException", id)
		}
	}
	if in.Content == "" {
		return nil, fault("CommentContentRequiredException", "The comment is empty.")
	}
	p.comments = append(p.comments, in.Content)
	return m{"pullRequestId": p.id, "comment": m{"content": in.Content}}, nil
}

// Merge merges an open pull request like a user in the console; the branch stays.
func (s *Server) Merge(t testing.TB, id string, squash bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.opened(id)
	if err != nil {
		t.Fatal(err)
	}
	p.mergedAs = p.origin.Merge(t, p.source, p.into, squash, p.title)
	p.open = false
}

// Decline closes an open pull request unmerged like a user; the branch stays.
func (s *Server) Decline(t testing.TB, id string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.opened(id)
	if err != nil {
		t.Fatal(err)
	}
	p.open = false
}

// Words returns the title, the body and the comments of a pull request.
func (s *Server) Words(t testing.TB, id string) (title, body string, comments []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.pull(id)
	if err != nil {
		t.Fatal(err)
	}
	return p.title, p.body, slices.Clone(p.comments)
}
