package workload_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The names follow RFC 1123, with the rules in Kubernetes' documentation.
func TestNamesAreLabelsAndSubdomains(t *testing.T) {
	t.Parallel()
	label := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	subdomain := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	valid := 0
	for range 20_000 {
		name := make([]byte, r.IntN(6))
		for i := range name {
			name[i] = "az09-..-A_/ \n\x00é"[r.IntN(16)]
		}
		s := string(name)
		if got, want := workload.ValidLabel(s), label.MatchString(s); got != want {
			t.Errorf("%q is a label: %t, want %t", s, got, want)
		}
		id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: s}
		if got, want := id.Validate() == nil, subdomain.MatchString(s); got != want {
			t.Errorf("%q is a subdomain: %t, want %t", s, got, want)
		} else if got {
			valid++
		}
	}
	if valid < 1000 {
		t.Errorf("%d names are valid: too few to tell", valid)
	}
}

func TestTheShapeOfALabelIsWhatAValidOneHas(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(workload.LabelShape)
	for _, text := range []string{"", "a", "-", "a-", "-a", "a-b", "a.b", "A", "a_b", "ä", "a\n", strings.Repeat("a", 63), strings.Repeat("a", 64)} {
		if valid := workload.ValidLabel(text); valid != shape.MatchString(text) {
			t.Errorf("%q: valid %v, and the shape says otherwise", text, valid)
		}
	}
}
