package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestATickEndsBeforeTheFunction(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{
		5 * time.Minute:  5*time.Minute - wrapUp,
		50 * time.Second: 40 * time.Second, // that of a period of a minute
		8 * time.Second:  6 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			function, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			begin := time.Now()
			tick, done := ended(function)
			defer done()
			<-tick.Done()
			if took := time.Since(begin); took != want || !errors.Is(context.Cause(tick), errTime) {
				t.Errorf("of %s a tick has %s, want %s; cause %v", timeout, took, want, context.Cause(tick))
			}
		})
	}
	tick, done := ended(t.Context())
	defer done()
	if at, bounded := tick.Deadline(); bounded {
		t.Errorf("without a deadline it ends at %s", at)
	}
}
