package ignore_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo/ignore"
)

func TestLeaves(t *testing.T) {
	t.Parallel()
	const records = "# only records\n\n/*\n!/checkpoints/\n/checkpoints/*\n!/checkpoints/prod/\n/checkpoints/prod/*.yaml\n  /checkpoints/prod/*/kustomization.yaml  \n"
	for file, want := range map[string]bool{
		"apps/shop/web.yaml":                       true,
		"checkpoints/prod/site.yaml":               true,
		"checkpoints/prod/shop/kustomization.yaml": true,
		"checkpoints/prod/shop/checkpoint.yaml":    false,
		"checkpoints/test/shop/checkpoint.yaml":    true,
		"checkpoints.yaml":                         true,
	} {
		if got := ignore.Parse(records).Leaves(file); got != want {
			t.Errorf("%s: left out %v, want %v", file, got, want)
		}
		if (ignore.Lines{}).Leaves(file) || ignore.Parse("# "+file+"\n").Leaves(file) {
			t.Errorf("%s: left out by no line", file)
		}
	}
}
