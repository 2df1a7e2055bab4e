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

func TestAnInstanceCountsTowardTheQuotaOfItsFamily(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"m7g.large": {"L-1216C47A", "L-34B43A08"}, "im4gn.large": {"L-1216C47A", "L-34B43A08"}, "i7ie.large": {"L-1216C47A", "L-34B43A08"}, "g6e.xlarge": {"L-DB2E81BA", "L-3819A6DF"},
		"gr6.4xlarge": {"L-DB2E81BA", "L-3819A6DF"}, "inf2.xlarge": {"L-1945791B", "L-B5D1601B"}, "p4d.24xlarge": {"L-417A185B", "L-7212CCBC"}, "p5en.48xlarge": {"L-417A185B", "L-C4BD4855"},
		"u-6tb1.metal": {"L-43DA4232", ""}, "u7i-12tb.224xlarge": {"L-43DA4232", ""}, "x2idn.16xlarge": {"L-7295265B", "L-E3A00192"}, "hpc7a.12xlarge": {"L-F7808C92", ""},
		"mac2.metal": {"", ""}, "unknown": {"", ""},
	} {
		if got := [2]string{code(name, onDemand), code(name, spot)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
