package codecommit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// Names of CodeCommit errors, grouped by meaning.
var (
	noRepository = []string{"RepositoryDoesNotExistException"}
	noBranch     = []string{"BranchDoesNotExistException", "ReferenceDoesNotExistException"}
	noCommit     = []string{"CommitIdDoesNotExistException", "CommitDoesNotExistException"}
	branchExists = []string{"BranchNameExistsException"}
	noChange     = []string{"NoChangeException", "SameFileContentException"}
	closed       = []string{"PullRequestAlreadyClosedException"}
	throttled    = []string{"ThrottlingException", "Throttling", "TooManyRequestsException"}
	tooLarge     = []string{"FileTooLargeException"}
	tooMany      = []string{"MaximumFileEntriesExceededException"}
	notAllowed   = []string{"AccessDeniedException", "AccessDenied", "UnauthorizedException", "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "MissingAuthenticationTokenException"}
)

// errNoCommit means that the repository does not have a commit.
var errNoCommit = errors.New("commit does not exist")

// is reports whether an error has one of the names.
func is(err error, names []string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains(names, api.ErrorCode())
}

// explain adds advice to an error, if it has advice for it.
func (r *Repository) explain(err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	words := sanitize.Answer(api.ErrorMessage())
	switch {
	case is(err, noRepository):
		return fmt.Errorf("repository %q does not exist in this account and Region", r.Repository)
	case is(err, noBranch):
		return fmt.Errorf("%w: %s", repo.ErrNoBranch, words)
	case is(err, noCommit):
		return fmt.Errorf("%w: %s", errNoCommit, words)
	case is(err, notAllowed):
		return fmt.Errorf("the role is not allowed to: %s", words)
	case is(err, throttled):
		return fmt.Errorf("%s: %s: each try was throttled. The next tick tries again. If this continues, check which other clients call CodeCommit in this account and Region, or set a longer period", api.ErrorCode(), words)
	}
	return fmt.Errorf("%s: %s", api.ErrorCode(), words)
}

// refused returns a RefusedError if the server refused a write, and other errors
// unchanged or explained. It is nil for nil.
func (r *Repository) refused(what string, err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorFault() == smithy.FaultServer {
		return err
	}
	why := api.ErrorCode() + ": " + api.ErrorMessage()
	switch {
	case is(err, noRepository), is(err, noBranch):
		return r.explain(err)
	case is(err, tooMany):
		why = "it changes more files than CodeCommit accepts in one commit: " + why
	}
	return &repo.RefusedError{What: what, Why: sanitize.Answer(why), TooLarge: is(err, tooMany)}
}
