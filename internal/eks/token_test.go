package eks

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestATokenIsShownForFourteenMinutes(t *testing.T) {
	t.Parallel()
	signed, now := 0, time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	tokens := &tokens{
		sign:  func() (string, error) { signed++; return fmt.Sprint("token ", signed), nil },
		clock: func() time.Time { return now },
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "token 1"},
		{14*time.Minute - time.Second, "token 1"},
		{time.Second, "token 2"},
		{13 * time.Minute, "token 2"},
		{time.Hour, "token 3"},
	} {
		now = now.Add(step.after)
		if got, err := tokens.Token(); err != nil || got.AccessToken != step.want {
			t.Errorf("at %s: %v, error %v, want %q", now.Format(time.TimeOnly), got, err, step.want)
		}
	}
	tokens.forget()
	if got, err := tokens.Token(); err != nil || got.AccessToken != "token 4" {
		t.Errorf("after a refusal: %v, error %v", got, err)
	}
	tokens.forget()
	tokens.sign = func() (string, error) { return "", errors.New("no credentials") }
	if _, err := tokens.Token(); err == nil || err.Error() != "sign a token: no credentials" {
		t.Errorf("error %v", err)
	}
}

func TestASessionFitsWhatSTSTakes(t *testing.T) {
	t.Parallel()
	if got := session("prod-eu"); got != "gitlatch-prod-eu" {
		t.Errorf("got %s", got)
	}
	if got := session(strings.Repeat("a", 63)); len(got) != 64 {
		t.Errorf("got %s", got)
	}
}
