package ledger

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// For any message, the trailers that were read are read again after they were written.
// A message of ours is recognized by its own trailers, even if a reason contains these
// words.
func FuzzTrailers(f *testing.F) {
	f.Add("latch(prod-eu): shop/web 100 -> 200\n\nwhy\n\nGitlatch-Site: prod-eu\nGitlatch-Intent: 2-00\nGitlatch-Base: c0ffee\nGitlatch-Surge: shop/deployment/web 120\n")
	f.Add("squash\r\n  Gitlatch-Site: a: b \n\tGitlatch-Surge: shop/deployment/web -1\nGitlatch-Surge: shop/deployment/web 2147483648\nGitlatch-Surge: shop/../web 2\n")
	f.Add("Gitlatch-Site: \nGitlatch-Site\nGitlatch-Base: x\n")
	f.Fuzz(func(t *testing.T, message string) {
		read := ReadTrailers(message)
		if again := ReadTrailers(read.String()); !reflect.DeepEqual(again, read) {
			t.Errorf("%q reads as %+v, and that as %+v", message, read, again)
		}
		for _, surge := range read.Surges {
			if err := surge.ID.Validate(); err != nil {
				t.Errorf("took %q: %v", surge.ID, err)
			}
		}
		by := Trailers{Site: "prod", Intent: "2-00", Surges: []Surge{{workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, 7}}}
		own := Message(DefaultSubject, by, false, []Crossing{{ID: by.Surges[0].ID, Text: message}}, nil)
		if got := ReadTrailers(own); !reflect.DeepEqual(got, by) {
			t.Errorf("with %q as reason a commit reads as %+v", message, got)
		}
		if n := strings.Count(own, "\nGitlatch-Site:"); n != 1 || !slices.Equal(ReadTrailers(own).Surges, by.Surges) {
			t.Errorf("with %q as reason a commit has %d sites", message, n)
		}
	})
}
