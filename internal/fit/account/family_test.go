package account

import (
	"testing"
)

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
