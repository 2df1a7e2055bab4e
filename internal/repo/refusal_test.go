package repo

import (
	"slices"
	"strings"
	"testing"
)

// The messages are the words of the hosts, on one line. A part of the wanted remedies is
// listed for each message, and no other remedy is given.
func TestTheRemedyFollowsFromTheMessageOfTheHost(t *testing.T) {
	t.Parallel()
	const rules = "push declined due to repository rule violations: error: GH013: Repository rule violations found for refs/heads/main. Review all repository rules at https://github.com/team/site/rules?ref=refs%2Fheads%2Fmain "
	const protected = "protected branch hook declined: error: GH006: Protected branch update failed for refs/heads/main. "
	used := map[string]bool{}
	for _, c := range []struct {
		e    RefusedError
		want []string
	}{
		{RefusedError{Why: rules + "- Commits must have verified signatures. Found 1 violation: 9eef7a2"}, []string{"set commit.signing"}},
		{RefusedError{Why: protected + "error: Commits must have verified signatures."}, []string{"set commit.signing"}},
		{RefusedError{Why: "pre-receive hook declined: GitLab: Commit must be signed with a GPG key"}, []string{"set commit.signing"}},
		{RefusedError{Why: rules + "- Commits must have verified signatures. - Changes must be made through a pull request."}, []string{"set commit.signing", "set repository.mode: proposal"}},

		{RefusedError{Why: "pre-receive hook declined: GitLab: Commit message does not follow the pattern '^(feat|fix): '"}, []string{"set commit.subject"}},
		{RefusedError{Why: "pre-receive hook declined: GitLab: Commit message contains the forbidden pattern 'latch'"}, []string{"set commit.subject"}},
		{RefusedError{Why: rules + "- Commit message must match a given regex pattern: ^[A-Z]+-[0-9]+"}, []string{"set commit.subject"}},
		{RefusedError{Why: "pre-receive hook declined: GitLab: Commit message must contain a DCO signoff"}, []string{"change the rule"}},
		{RefusedError{Why: "pre-receive hook declined: commits must be signed off"}, []string{"change the rule"}},

		{RefusedError{Why: "pre-receive hook declined: GitLab: Author's email 'a@example.com' does not follow the pattern '@example.org$'"}, []string{"set commit.author"}},
		{RefusedError{Why: "push declined due to email privacy restrictions: error: GH007: Your push would publish a private email address."}, []string{"set commit.author"}},

		{RefusedError{Why: rules + "- Changes must be made through a pull request. - 12 of 12 required status checks are expected."}, []string{"set repository.mode: proposal"}},
		{RefusedError{Why: protected + "error: At least 1 approving review is required by reviewers with write access."}, []string{"set repository.mode: proposal"}},
		{RefusedError{Why: "TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch."}, []string{"set repository.mode: proposal"}},
		{RefusedError{Why: "pre-receive hook declined: Branch refs/heads/main can only be modified through pull requests."}, []string{"set repository.mode: proposal"}},
		{RefusedError{Why: "pre-receive hook declined: GitLab: You are not allowed to push code to protected branches on this project."}, []string{"push to the protected branch"}},
		{RefusedError{Why: "pre-receive hook declined: Gitea: Not allowed to push to protected branch main"}, []string{"push to the protected branch"}},
		{RefusedError{Why: protected + "error: You're not authorized to push to this branch."}, []string{"push to the protected branch"}},

		{RefusedError{Why: "the server answers 403 Forbidden, the credentials do not allow it: Permission to team/site.git denied to bot."}, []string{"let the identity of gitlatch push to the branch"}},
		{RefusedError{Why: "AccessDeniedException: User: arn:aws:sts::1:role is not authorized to perform: codecommit:CreateCommit"}, []string{"let the identity of gitlatch push to the branch"}},
		{RefusedError{Why: "the server answers 502 Bad Gateway"}, []string{"tries again"}},
		{RefusedError{Why: "post the pack: net/http: request timed out"}, []string{"tries again"}},
		{RefusedError{Why: "unpack failed: unable to create temporary object directory"}, []string{"change the rule"}},

		{RefusedError{What: "pull request", Why: "GitHub answers 403, the credentials do not allow it (pull requests need pull requests: write, and contents: write): Resource not accessible by integration"}, []string{"open, edit and close pull requests"}},
		{RefusedError{What: "merge request", Why: "GitLab answers 409: Another open merge request already exists for this source branch"}, []string{"change the rule"}},

		{RefusedError{OnDisk: true, Why: `branch "main" is checked out in /srv/site`}, []string{"a bare repository"}},
		{RefusedError{OnDisk: true, Why: "/srv/site.git/hooks/pre-receive decides about each push, and only git can run it"}, []string{"remove the hook"}},
		{RefusedError{OnDisk: true, Why: "the branch is locked by /srv/site.git/refs/heads/main.lock"}, []string{"remove the lock file"}},
		{RefusedError{OnDisk: true, Why: "write an object: open /srv/site.git/objects/9e: permission denied"}, []string{"write to the folder"}},
	} {
		got := strings.Split(c.e.Remedy(), "; ")
		agree := slices.EqualFunc(got, c.want, func(fix, part string) bool { return strings.Contains(fix, part) })
		if !agree {
			t.Errorf("%s: %q, want %q", c.e.Why, got, c.want)
		}
		for _, fix := range got {
			used[string(c.e.request())+fix] = true
		}
	}
	for _, r := range remedies {
		if !used[string(r.to)+r.fix] {
			t.Errorf("no message has the remedy %q", r.fix)
		}
	}
}
