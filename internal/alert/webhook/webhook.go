// Package webhook posts alerts to a URL that accepts JSON with a text, like the incoming
// webhooks of Slack, Mattermost and Rocket.Chat, or an adapter for another service.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// within is the longest time to wait for an answer.
const within = 10 * time.Second

// A Hook is a webhook for alerts. Its URL is a secret: anyone with the URL can post.
type Hook struct {
	url    *url.URL
	client *http.Client
}

// Open returns the hook at a URL. It sends no request.
func Open(secret string) (Hook, error) {
	u, err := url.Parse(secret)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return Hook{}, errors.New("must be an https URL, or an http one within the network")
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return Hook{u, &http.Client{Timeout: within, CheckRedirect: refuse}}, nil
}

// forGood are the status codes of a server that would never accept the message.
var forGood = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}

// Send posts a message. If the server would never accept the message, the error is an
// alert.RefusedError. Errors never contain the URL. They also leave out the body of the
// answer, because it may repeat the URL.
func (h Hook) Send(ctx context.Context, n alert.Notice) error {
	body, err := json.Marshal(map[string]string{"text": n.Text})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook at %s: the URL is not valid", h.url.Host)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := h.client.Do(r)
	if err != nil {
		if said := (*url.Error)(nil); errors.As(err, &said) {
			err = said.Err // without the URL
		}
		return fmt.Errorf("webhook at %s: %w", h.url.Host, err)
	}
	defer func() { _ = answer.Body.Close() }() // the body is not read
	switch {
	case answer.StatusCode/100 == 2:
		return nil
	case slices.Contains(forGood, answer.StatusCode):
		return &alert.RefusedError{Cause: fmt.Errorf("webhook at %s: it answers %s. Set the URL of a webhook that accepts JSON with a text", h.url.Host, answer.Status)}
	}
	return fmt.Errorf("webhook at %s: it answers %s", h.url.Host, answer.Status)
}
