package main

import (
	"testing"
	"time"
)

func TestFiguresBeyondTheirLimitsFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		init  time.Duration
		ratio float64
		ok    bool
	}{
		{maxInit, maxRatio, true},
		{maxInit + 1, maxRatio, false},
		{maxInit, maxRatio + 0.01, false},
		{maxInit + 1, maxRatio + 0.01, false},
	} {
		if err := within(c.init, c.ratio); (err == nil) != c.ok {
			t.Errorf("%s and %.2f: %v", c.init, c.ratio, err)
		}
	}
}
