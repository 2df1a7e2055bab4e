package inplace_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestALargeFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	text := "web: 3 # {\"$gitlatch\": \"shop/deployment/web\"}\n"
	for over, marks := range map[int]int{0: 3, 1: 7} { // 7 is what was known before
		data := text + "#" + strings.Repeat("x", inplace.MostBytes-len(text)-1+over)
		f := inplace.Look("a.yaml", repo.Object{ID: "1", Files: map[string][]byte{"a.yaml": []byte(data)}}, nil, latch.Marks{web: {7}})
		if (len(f.Refused) > 0) != (over > 0) || len(f.Marks[web]) != 1 || int(f.Marks[web][0]) != marks {
			t.Errorf("%d bytes too many: %+v", over, f)
		}
	}
}
