//go:build pages

package browser

import (
	"strings"
	"testing"
)

// The forbidden actions of a page, each in a separate line.
const naughty = `<!doctype html>
<link rel="icon" href="data:,">
<img src="http://127.0.0.1:1/picture">
<script>
console.error('a word')
console.warn('a warning')
console.log('which is nobody\'s business')
fetch('https://example.invalid/')
setTimeout(() => { nothing.at.all })
</script>`

func TestWhatAPageMustNotDoIsTold(t *testing.T) {
	t.Parallel()
	b := Start(t)
	p := b.open(t, []byte(naughty), View{})
	var dark bool
	p.Do(t, `return page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)`, nil, &dark)
	told := ""
	for range 100 { // it does so in its own time
		if told = strings.Join(p.Wrong(t), "\n"); strings.Count(told, "request: ") >= 2 && strings.Contains(told, "nothing") {
			break
		}
		p.Do(t, `await page.waitForTimeout(100)`, nil, nil)
	}
	for _, want := range []string{"console error: a word", "console warning: a warning", "request: GET http://127.0.0.1:1/picture", "request: GET https://example.invalid/", "nothing is not defined"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told:\n%s", want, told)
		}
	}
	if strings.Contains(told, "business") || dark {
		t.Errorf("dark %v:\n%s", dark, told)
	}

	quiet := b.Open(t, []byte(`<!doctype html><link rel="icon" href="data:,"><p>Nothing.`), View{Dark: true, Width: 360, Height: 740})
	var got struct {
		Dark bool
		Wide int
	}
	quiet.Do(t, `return page.evaluate(() => ({ dark: matchMedia('(prefers-color-scheme: dark)').matches, wide: innerWidth }))`, nil, &got)
	if wrong := quiet.Wrong(t); len(wrong) > 0 || !got.Dark || got.Wide != 360 {
		t.Errorf("%+v %q", got, wrong)
	}
}
