package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A marked value that follows its level has no line. One that does not follow has a
// line. A refused one is among the problems and is not repeated.
func TestMarksThatDoNotFollowHaveALine(t *testing.T) {
	t.Parallel()
	web, api := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
	r := tick.Report{Site: "prod", InPlace: []inplace.Mark{
		{File: "values.yaml", ID: web, Counts: []int32{200}, Level: 200},
		{File: "values.yaml", ID: api, Counts: []int32{3, 4}, Text: "nothing is declared of it"},
		{File: "values.yaml", Line: 7, ID: api, Refused: true, Text: "an alias"},
		{File: "empty.yaml", Text: "it has no marker"},
	}}
	want := "shop/deployment/api in values.yaml has 3, 4; nothing is declared of it\nin empty.yaml it has no marker\n"
	if got := table(t, r, 0); !strings.Contains(got, want) || strings.Contains(got, "web in") || strings.Contains(got, "alias") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	data, err := json.Marshal(New(r).InPlace)
	if want := `[{"file":"values.yaml","workload":"shop/deployment/web","says":[200],"declared":200},` +
		`{"file":"values.yaml","workload":"shop/deployment/api","says":[3,4],"text":"nothing is declared of it"},` +
		`{"file":"values.yaml","line":7,"workload":"shop/deployment/api","refused":true,"text":"an alias"},` +
		`{"file":"empty.yaml","text":"it has no marker"}]`; err != nil || string(data) != want {
		t.Errorf("got %s, %v", data, err)
	}
}
