package inplace_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

const sign = " # {\"$gitlatch\": \"shop/deployment/web\"}\n"

// files returns the file a.yaml with a text; "" returns no file.
func files(text string) []inplace.File {
	objects := map[string]repo.Object{}
	if text != "" {
		objects["a.yaml"] = repo.Object{ID: text, Files: map[string][]byte{"a.yaml": []byte(text)}}
	}
	return inplace.Look([]string{"a.yaml"}, objects, nil)
}

func TestALargeFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	text := "web: 3" + sign
	for over, marks := range map[int]int{0: 1, 1: 0} {
		f := files(text + "#" + strings.Repeat("x", inplace.MostBytes-len(text)-1+over))[0]
		if (len(f.Refused) > 0) != (over > 0) || len(f.Marks[web]) != marks {
			t.Errorf("%d bytes too many: %d marks, refused %v", over, len(f.Marks[web]), f.Refused)
		}
	}
}

// A number follows if its entry had that level, or if the marker or the entry is new.
func TestANumberThatAUserWroteIsTold(t *testing.T) {
	t.Parallel()
	risk := inplace.Cover{Risk: map[workload.ID]bool{web: true}}
	levels := map[workload.ID][]int32{web: {100, 200}} // 100 at the agreed commit
	for name, c := range map[string]struct {
		rule        inplace.Rule
		agreed, now string
		theirs      bool
	}{
		"the level at the agreed commit":    {inplace.Rule{Levels: levels}, "web: 100" + sign, "web: 100" + sign, false},
		"a level since then":                {inplace.Rule{Levels: levels}, "web: 100" + sign, "web: 200" + sign, false},
		"another number":                    {inplace.Rule{Levels: levels}, "web: 100" + sign, "web: 150" + sign, true},
		"another number, as before":         {inplace.Rule{Levels: levels}, "web: 150" + sign, "web: 150" + sign, true},
		"a new marker":                      {inplace.Rule{Levels: levels}, "web: 3\n", "web: 3" + sign, false},
		"a new file":                        {inplace.Rule{Levels: levels}, "", "web: 3" + sign, false},
		"a new entry":                       {inplace.Rule{}, "web: 3" + sign, "web: 3" + sign, false},
		"a marker beside one":               {inplace.Rule{Levels: levels}, "web: 100" + sign, "web: 100" + sign + "min: 3" + sign, false},
		"a marker beside a user's":          {inplace.Rule{Levels: levels}, "web: 150" + sign, "web: 150" + sign + "min: 3" + sign, true},
		"one of two":                        {inplace.Rule{Levels: levels}, "web: 100" + sign + "min: 100" + sign, "web: 100" + sign + "min: 80" + sign, true},
		"one of two removed":                {inplace.Rule{Levels: levels}, "web: 100" + sign + "min: 100" + sign, "web: 100" + sign, false},
		"a marker that was refused":         {inplace.Rule{Levels: levels}, "web: !!int 3" + sign, "web: 3" + sign, false},
		"changed by the open proposal":      {inplace.Rule{Levels: levels, Asked: files("web: 3" + sign), Asks: files("web: 300" + sign)}, "web: 3" + sign, "web: 3" + sign, false},
		"not changed by the open proposal":  {inplace.Rule{Levels: levels, Asked: files("web: 3" + sign), Asks: files("web: 3" + sign)}, "web: 3" + sign, "web: 3" + sign, true},
		"another since the open proposal":   {inplace.Rule{Levels: levels, Asked: files("web: 3" + sign), Asks: files("web: 300" + sign)}, "web: 3" + sign, "web: 4" + sign, true},
		"a marker of a workload moves down": {inplace.Rule{Levels: levels}, "web: 100" + sign, "# moved\nweb: 100" + sign, false},
	} {
		c.rule.Cover = risk
		c.rule.Agreed = files(c.agreed)
		now := files(c.now)
		marks := c.rule.Judge(now, map[workload.ID]checkpoint.Entry{web: {Replicas: 300}})
		if len(marks) != 1 || marks[0].Theirs != c.theirs || marks[0].Behind() == c.theirs {
			t.Errorf("%s: %+v", name, marks)
		}
		written, refused := inplace.Write(now, marks)
		changed := strings.Contains(string(written["a.yaml"]), "web: 300")
		if changed == c.theirs || len(refused) > 0 {
			t.Errorf("%s: wrote %q, refused %v", name, written, refused)
		}
	}
}

// gitlatch does not change numbers that it may not write, and gives a reason for each.
func TestMarksThatAreLeftHaveAReason(t *testing.T) {
	t.Parallel()
	risk := inplace.Cover{Risk: map[workload.ID]bool{web: true}}
	covered := inplace.Cover{Evidence: checkpoint.Evidence{web.String(): "flux: x"}}
	for name, c := range map[string]struct {
		cover inplace.Cover
		text  string
		level int32
		want  string
	}{
		"no entry":         {risk, "web: 3" + sign, 0, "git has no level"},
		"suspended":        {risk, "web: 0" + sign, 100, "write 100"},
		"no rule":          {inplace.Cover{}, "web: 3" + sign, 100, "no rule protects"},
		"no rule, at rest": {inplace.Cover{}, "web: 100" + sign, 100, ""},
		"a rule":           {covered, "web: 3" + sign, 100, ""},
	} {
		rule := inplace.Rule{Cover: c.cover}
		marks := rule.Judge(files(c.text), map[workload.ID]checkpoint.Entry{web: {Replicas: c.level}})
		if len(marks) != 1 || marks[0].Theirs || !strings.Contains(marks[0].Text, c.want) || (c.want == "") != (marks[0].Text == "") {
			t.Errorf("%s: %+v", name, marks)
		}
	}
}
