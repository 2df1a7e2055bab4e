package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTheFirstPolicyFileHasAModeAndNoOtherSetting(t *testing.T) {
	t.Parallel()
	for _, mode := range Modes() {
		example := string(ExamplePolicy(mode))
		set, err := ParsePolicy("gitlatch.yaml", []byte(example), 5*time.Minute)
		want := DefaultPolicy(5 * time.Minute)
		want.Latch = mode == ModeLatch
		if err != nil || !reflect.DeepEqual(set, want) {
			t.Errorf("%s: %+v, %v", mode, set, err)
		}
		if lines := strings.Count(example, "\n"); lines > 15 || !strings.HasPrefix(example, Modeline(KindPolicy)) {
			t.Errorf("%s: %d lines\n%s", mode, lines, example)
		}
	}
}

func TestTheCommentsOfTheFirstPolicyFileAreAPolicy(t *testing.T) {
	t.Parallel()
	head, commented, found := strings.Cut(string(ExamplePolicy(ModeObserve)), "# policies:")
	if !found {
		t.Fatal("no policies")
	}
	set, err := ParsePolicy("gitlatch.yaml", []byte(head+strings.ReplaceAll("# policies:"+commented, "# ", "")), 5*time.Minute)
	if err != nil || len(set.Rules) != 1 || set.Rules[0].Policy.HoldDown != 8*24*time.Hour {
		t.Errorf("%+v, %v", set.Rules, err)
	}
}
