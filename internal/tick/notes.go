package tick

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// Notes are the messages of a step for users, in the order in which the step found them.
type Notes struct {
	Notices []Notice // the events in git, with gitlatch's reactions
	// Problems are the problems that a user must fix. The tick continued without the parts
	// that have them.
	Problems   []error
	Conditions []alert.Condition
}

// and returns the notes of a step followed by the notes of a later step.
func (n Notes) and(later Notes) Notes {
	return Notes{
		Notices:    slices.Concat(n.Notices, later.Notices),
		Problems:   slices.Concat(n.Problems, later.Problems),
		Conditions: slices.Concat(n.Conditions, later.Conditions),
	}
}

// The effects of level changes that are not on the branch yet.
const (
	oldLevels  = "git has the old levels, so a rebuild starts with them"
	triesAgain = oldLevels + ". gitlatch tries again with each tick"
)

// condition adds a condition. See alert.Condition for the texts.
func (n *Notes) condition(kind alert.Kind, subject, text, effect, fix string) {
	c := alert.Condition{Kind: kind, Subject: subject, Text: alert.Brief(text), Effect: effect, Fix: fix}
	n.Conditions = append(n.Conditions, c)
}

// problem adds a problem that a user must fix. The tick continues.
func (n *Notes) problem(err error) { n.Problems = append(n.Problems, err) }

// notice adds a notice about git.
func (n *Notes) notice(kind NoticeKind, subject, format string, args ...any) {
	n.Notices = append(n.Notices, Notice{kind, subject, fmt.Sprintf(format, args...)})
}

// usesLast is the reaction of gitlatch to an invalid file that it accepted before.
const usesLast = "gitlatch uses the last version that it accepted"

// invalid adds a file on the branch that cannot be read, and the reaction of gitlatch.
func (n *Notes) invalid(file string, err error, did string) {
	fix := "correct " + file + " on the branch"
	n.problem(fmt.Errorf("%w; %s; until then %s", err, fix, did))
	n.condition(alert.Invalid, file, err.Error(), did, fix)
}

// policyGone adds that the branch has no policy file, and the reaction of gitlatch.
func (n *Notes) policyGone(file, text, did string) {
	fix := "restore " + file + " on the branch, or correct repository.policyFile in the configuration. To stop gitlatch, commit the file with mode: observe"
	n.problem(fmt.Errorf("%s; %s; %s", text, did, fix))
	n.condition(alert.Invalid, file, text, did, fix)
}

// refused reports whether an error means that the host refuses the commit or the proposal,
// and adds it to the notes. problem is the format of an error that wraps it.
func (n *Notes) refused(err error, problem, subject string) bool {
	var refused *repo.RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	n.problem(fmt.Errorf(problem, err))
	n.condition(alert.Blocked, subject, err.Error(), triesAgain, refused.Remedy())
	return true
}
