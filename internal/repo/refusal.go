package repo

import (
	"cmp"
	"regexp"
	"strings"
)

// A RefusedError means that the server does not accept a request: the branch is
// protected, a hook declined the push, or the credentials do not allow writes.
type RefusedError struct {
	What string // the refused request; "" is a push
	Why  string // the server's message, on one line
	// OnDisk is true if the repository is a folder on this machine.
	OnDisk bool
	// TooLarge is true if the server may accept a part of the request.
	TooLarge bool
}

// Error returns the server's message.
func (e *RefusedError) Error() string { return cmp.Or(e.What, "push") + " was refused: " + e.Why }

// Remedy returns the remedies for all reasons in the server's message. It is never empty.
func (e *RefusedError) Remedy() string {
	var fixes []string
	for _, r := range remedies {
		applies := r.to == e.request() && regexp.MustCompile("(?i)"+r.reason).MatchString(e.Why)
		if applies && (len(fixes) == 0 || !r.general) {
			fixes = append(fixes, r.fix)
		}
	}
	return strings.Join(fixes, "; ")
}

// A request is a kind of refused request. Each has its own remedies.
type request string

const (
	toDisk request = "push to a folder"
	toPush request = "push to a server"
	toAsk  request = "request about a pull request"
)

func (e *RefusedError) request() request {
	switch {
	case e.OnDisk:
		return toDisk
	case e.What != "":
		return toAsk
	}
	return toPush
}

// remedies are the reasons for a refusal in the words of the hosts (GitHub, GitLab,
// CodeCommit, Bitbucket, Azure DevOps, Gitea and git), with their remedies. A reason is a
// regular expression, which ignores case. A general reason counts only if the message has no
// reason above it.
var remedies = []struct {
	to      request
	reason  string
	fix     string
	general bool
}{
	{to: toPush, reason: `verified signature|(unsigned|unverified|signed) commit|not signed|commits? must be signed( with| by|[.,:]|$)`,
		fix: "set commit.signing in the configuration, and add the public key to the account of commit.author on the git host as a signing key"},
	{to: toPush, reason: `(commit message|subject|title)s?\b[^.]{0,80}\b(pattern|match|regex|format|convention|prefix|start)(s|es|ed)?\b|conventional commit`,
		fix: `set commit.subject in the policy file (gitlatch.yaml) to a template that the host accepts, such as "chore(gitlatch): {{.Site}} {{.Changes}}"`},
	{to: toPush, reason: `(author|committer)('s)? e-?mail|private e-?mail address|cannot push commits for|not a member of team`,
		fix: "set commit.author in the configuration to a name and an e-mail address that the host accepts"},
	{to: toPush, reason: `(pull|merge) request|(approving|required) review|status check`,
		fix: "set repository.mode: proposal in the configuration, or let the identity of gitlatch bypass the rule of the host"},
	{to: toPush, general: true, reason: `protected|rule violation|restricted`,
		fix: "let the identity of gitlatch push to the protected branch, or set repository.mode: proposal in the configuration"},
	{to: toPush, general: true, reason: forbidden,
		fix: "let the identity of gitlatch push to the branch, or set another repository.branch in the configuration"},
	{to: toPush, general: true, reason: `answers 5\d\d|time(d |-)?out|deadline|connection|EOF|cut short|cannot lock ref|(internal|service)\w*(error|exception|unavailable)`,
		fix: "wait, because gitlatch tries again with each tick. If the error stays, check the git host and the network"},
	{to: toPush, general: true,
		fix: "change the rule that the git host states, or let the identity of gitlatch bypass it"},

	{to: toAsk, general: true, reason: forbidden, fix: "let the identity of gitlatch open, edit and close pull requests"},
	{to: toAsk, general: true, fix: "change the rule that the git host states, or let the identity of gitlatch bypass it"},

	{to: toDisk, reason: `is checked out in`, fix: "set repository.branch to another branch, or repository.url to a bare repository"},
	{to: toDisk, reason: `decides about each push`, fix: "set repository.url to the URL of the repository's server, or remove the hook"},
	{to: toDisk, reason: `is locked by`, fix: "if no git process runs, remove the lock file"},
	{to: toDisk, general: true, fix: "let the user that runs gitlatch write to the folder of the repository"},
}

// forbidden is the reason of a server whose credentials do not allow a request.
const forbidden = `answers 40[13]|access ?denied|permission (to|.*denied)|not (allowed|authorized|permitted)|forbidden|write access|read.only`
