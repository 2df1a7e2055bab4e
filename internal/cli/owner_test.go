package cli

import (
	"testing"
	"time"
)

// In a container, every run may have the same host name and process id. If the clock is
// set back, it may also have the same time.
func TestEachRunIsAnOwnerOfItsOwn(t *testing.T) {
	t.Parallel()
	env := Env{Clock: func() time.Time { return time.Unix(0, 0) }}
	if one, two := owner(env), owner(env); one == two {
		t.Errorf("both are %s", one)
	}
}
