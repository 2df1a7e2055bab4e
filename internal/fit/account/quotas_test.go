//go:build aws

package account

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// moto has the response of EC2 for all instance types of a Region.
func TestEveryInstanceTypeHasAQuota(t *testing.T) {
	t.Parallel()
	dir := program.Folder(t, "moto, a stand-in for AWS", filepath.Join("scripts", "python", "venv.sh"))
	files, err := filepath.Glob(filepath.Join(dir, "lib", "*", "site-packages", "moto", "ec2", "resources", "instance_types.json.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, error %v", files, err)
	}
	file, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct{ SupportedUsageClasses []string }
	if err := json.NewDecoder(plain).Decode(&all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 900 {
		t.Fatalf("only %d instance types", len(all))
	}
	for name, of := range all {
		for _, capacityType := range of.SupportedUsageClasses {
			without := strings.HasPrefix(name, "mac") || capacityType == "capacity-block" || capacityType == spot && withoutSpot(name)
			if got := code(name, capacityType); (got == "") != without {
				t.Errorf("%s %s has the quota %q", name, capacityType, got)
			}
		}
	}
}

// withoutSpot reports whether the spot quota of an instance type is not documented.
func withoutSpot(name string) bool {
	return strings.HasPrefix(name, "p6") || strings.HasPrefix(name, "hpc") || strings.HasPrefix(name, "u")
}
