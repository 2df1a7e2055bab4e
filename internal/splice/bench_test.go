package splice

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// large returns a file of about the given size, by shape.
func large(shape string, size int) []byte {
	var b strings.Builder
	marked := func(i int) string { return fmt.Sprintf(`# {"$gitlatch": "shop/deployment/web-%d"}`, i) }
	for i := 0; b.Len() < size; i++ {
		switch shape {
		case "one mark":
			if i == 1000 {
				fmt.Fprintf(&b, "replicas: 100 %s\n", marked(0))
			}
			fmt.Fprintf(&b, "key-%d: {name: \"a name, quoted\", list: [a, b, 3], on: true} # and a comment\n", i)
		case "marks":
			fmt.Fprintf(&b, "web-%d:\n  replicas: %d %s\n", i, i, marked(i))
		case "documents":
			fmt.Fprintf(&b, "---\nkind: Deployment\nmetadata: {name: web-%d}\nspec:\n  # how many\n  replicas: %d %s\n", i, i, marked(i))
		case "texts":
			fmt.Fprintf(&b, "web-%d:\n  script: \"replicas: 5 # {'$gitlatch': 1}\"\n  replicas: %d %s\n", i, i, marked(i))
		case "one line":
			if i == 0 {
				fmt.Fprintf(&b, "web: 5 %s\nlong: [", marked(0))
			}
			fmt.Fprintf(&b, `"a %d", {b: 'c'}, `, i)
		}
	}
	if shape == "one line" {
		b.WriteString("1]\n")
	}
	return []byte(b.String())
}

// BenchmarkEdit changes every marker of a file, and reports the ratio of its time to a
// plain parse. It parses twice, and a third time if texts contain signs.
func BenchmarkEdit(b *testing.B) {
	for _, shape := range []string{"one mark", "marks", "documents", "texts", "one line"} {
		for _, mb := range []int{1, 5} {
			b.Run(fmt.Sprintf("%s/%dMB", strings.ReplaceAll(shape, " ", "-"), mb), func(b *testing.B) {
				data := large(shape, mb<<20)
				marks := must(Find("f", data, nil))(b)
				to := map[workload.ID]int32{}
				for _, m := range marks {
					to[m.ID] = m.Value + 1
				}
				b.SetBytes(int64(len(data)))
				var plain time.Duration // measured in turn with the edits, because other programs use the machine
				for b.Loop() {
					if after := must(Edit("f", data, to))(b); bytes.Equal(after, data) {
						b.Fatal("nothing changed")
					}
					b.StopTimer()
					began := time.Now()
					must(parse(data))(b)
					plain += time.Since(began)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed())/float64(plain), "parses/op")
				b.ReportMetric(float64(len(marks)), "marks")
			})
		}
	}
}
