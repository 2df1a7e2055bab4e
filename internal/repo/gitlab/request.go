package gitlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// mostAnswer is the maximum size of an answer, in bytes: a page of merge requests with
// long descriptions.
const mostAnswer = 32 << 20

// A statusError is an answer of GitLab with a status other than 2xx.
type statusError struct {
	status int
	advice string // "" or a text that starts with a comma
	words  string // the message of GitLab, on one line
}

// Error returns the status, the advice and the message.
func (e *statusError) Error() string {
	return fmt.Sprintf("GitLab answers %d%s: %s", e.status, e.advice, e.words)
}

// call sends a request to the API of the project. It encodes said, and decodes the answer
// into answer; nil omits either.
func (p *Proposals) call(ctx context.Context, method, path string, said, answer any) error {
	token, err := p.token(ctx)
	if err != nil {
		return err
	}
	var text []byte
	if said != nil {
		if text, err = json.Marshal(said); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, p.api+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	found, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer found.Body.Close()
	body, err := io.ReadAll(io.LimitReader(found.Body, mostAnswer))
	switch {
	case err != nil:
		return err
	case found.StatusCode/100 != 2:
		return &statusError{found.StatusCode, p.advice(found.StatusCode), words(body)}
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("GitLab answers %d without valid JSON: %w", found.StatusCode, err)
	}
	return nil
}

func (p *Proposals) advice(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return ", the token is wrong, expired or revoked"
	case http.StatusForbidden:
		return ", the token does not allow it (merge requests need the scope api and the role Developer)"
	case http.StatusNotFound:
		return fmt.Sprintf(", the project %s does not exist, or the token has no access to it", p.project)
	case http.StatusMovedPermanently, http.StatusFound, http.StatusPermanentRedirect:
		return fmt.Sprintf(", the project %s has moved. Set its new URL in the configuration", p.project)
	}
	return ""
}

// words returns the message in an error of GitLab. The message is a text, a list, or
// lists by field.
func words(body []byte) string {
	var said struct {
		Message     any
		Error       any
		Description any `json:"error_description"`
	}
	if json.Unmarshal(body, &said) != nil {
		return sanitize.Answer(string(body[:min(len(body), sanitize.MostAnswer)]))
	}
	return sanitize.Answer(strings.Join(slices.Concat(texts(said.Message), texts(said.Error), texts(said.Description)), ": "))
}

// texts returns the texts in a value, in the order of the fields' names.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, texts(one)...)
		}
	case map[string]any:
		for name, one := range v {
			all = append(all, strings.Join(append([]string{name}, texts(one)...), " "))
		}
		slices.Sort(all)
	}
	return all
}

// refusals are the statuses of a write that GitLab does not accept.
var refusals = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity,
}

// refused returns a RefusedError if GitLab refused a write, and otherwise err.
func refused(what string, err error) error {
	var answer *statusError
	if errors.As(err, &answer) && slices.Contains(refusals, answer.status) {
		return &repo.RefusedError{What: what, Why: answer.Error()}
	}
	return err
}
