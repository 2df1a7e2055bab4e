package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// The parser refuses a file that is too large for a cluster. A checkpoint file of that
// size affects only its namespace.
func TestADocumentLargerThanAConfigMapIsNotParsed(t *testing.T) {
	t.Parallel()
	large := []byte("[" + strings.Repeat("0,", 1<<19) + "]")
	record := checkpoint.RecordPath("prod", "shop")
	tree, err := checkpoint.ParseTree("prod", map[string][]byte{record: large})
	if err != nil {
		t.Fatal(err)
	}
	site := checkpoint.SitePath("prod")
	_, siteErr := checkpoint.ParseTree("prod", map[string][]byte{site: large})
	for path, err := range map[string]error{record: tree.Broken["shop"], site: siteErr} {
		if err == nil || !strings.HasPrefix(err.Error(), path+": has 1048578 bytes, and the maximum is 1048576") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}
