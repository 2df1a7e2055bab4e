package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// A record that no cluster would take is not parsed, and costs its namespace.
func TestARecordLargerThanAConfigMapIsNotParsed(t *testing.T) {
	t.Parallel()
	path := checkpoint.RecordPath("prod", "shop")
	tree, err := checkpoint.ParseTree("prod", map[string][]byte{path: []byte("[" + strings.Repeat("0,", 1<<19) + "]")})
	if got := tree.Broken["shop"]; err != nil || got == nil || !strings.HasPrefix(got.Error(), path+": has 1048578 bytes") {
		t.Errorf("got %v, %v", got, err)
	}
}
