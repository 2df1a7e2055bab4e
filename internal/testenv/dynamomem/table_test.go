package dynamomem_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/testenv/dynamomem"
)

// The store over the table in memory passes the suite of every store.
func TestContract(t *testing.T) {
	t.Parallel()
	latchtest.Run(t, func(*testing.T) latch.Store {
		return dynamo.Open(dynamo.Options{Table: "t", Client: &dynamomem.Table{}})
	})
}
