package webhook_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/alert/webhook"
)

var blocked = alert.Alert{ID: "1", Site: "prod-eu", State: alert.Raised, Severity: alert.Critical,
	Condition: alert.Condition{Kind: alert.Blocked, Text: "push was refused", Fix: "let it push"}}

// hook returns a hook whose server answers with a status, and the bodies that it
// receives.
func hook(t *testing.T, status int) (webhook.Hook, *[]string) {
	t.Helper()
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/services/hunter2" {
			t.Errorf("%s %s of %s, error %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
		}
		sent = append(sent, string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		io.WriteString(w, "no service at "+r.URL.Path)
	}))
	t.Cleanup(server.Close)
	h, err := webhook.Open(server.URL + "/services/hunter2")
	if err != nil {
		t.Fatal(err)
	}
	return h, &sent
}

// send posts the alert about a blocked push.
func send(t *testing.T, to webhook.Hook) error {
	t.Helper()
	n, err := blocked.Notice()
	if err != nil {
		t.Fatal(err)
	}
	return to.Send(t.Context(), n)
}

func TestAnAlertIsPostedAsText(t *testing.T) {
	t.Parallel()
	h, sent := hook(t, http.StatusOK)
	if err := send(t, h); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte((*sent)[0]), &got); err != nil || len(got) != 1 || got["text"] != blocked.Message() {
		t.Errorf("sent %q, error %v", *sent, err)
	}
}

// An alert that may be accepted later stays in the outbox. One that is never accepted
// would block all alerts behind it.
func TestWhatIsNotTaken(t *testing.T) {
	t.Parallel()
	for status, forGood := range map[int]bool{
		http.StatusFound: false, http.StatusForbidden: false, http.StatusNotFound: false, http.StatusTooManyRequests: false, http.StatusBadGateway: false,
		http.StatusBadRequest: true, http.StatusRequestEntityTooLarge: true, http.StatusUnprocessableEntity: true,
	} {
		h, sent := hook(t, status)
		err := send(t, h)
		var refused *alert.RefusedError
		if err == nil || errors.As(err, &refused) != forGood || !strings.Contains(err.Error(), http.StatusText(status)) {
			t.Errorf("%d: %v", status, err)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || len(*sent) != 1 {
			t.Errorf("%d: tells the secret, or was asked %d times: %v", status, len(*sent), err)
		}
	}
}

func TestAServerThatIsGoneIsNamedWithoutTheSecret(t *testing.T) {
	t.Parallel()
	h, err := webhook.Open("http://127.0.0.1:1/services/hunter2")
	if err != nil {
		t.Fatal(err)
	}
	if err := send(t, h); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "127.0.0.1:1: ") {
		t.Errorf("error %v", err)
	}
	unwritable := blocked
	unwritable.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // which JSON has no form for
	if _, err := unwritable.Notice(); err == nil {
		t.Error("an alert that JSON cannot hold becomes a message")
	}
}

func TestWhatIsNoURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "hunter2", "ftp://host/hunter2", "https:///hunter2", "https://host/%hunter2"} {
		if _, err := webhook.Open(secret); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", secret, err)
		}
	}
}
