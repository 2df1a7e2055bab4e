package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// overflow returns whether the page is wider than its window, and what of it
// reaches beyond; what scrolls by itself may.
const overflow = `
return page.evaluate(() => {
	const inside = element => { for (let e = element.parentElement; e; e = e.parentElement) if (e.classList.contains('scroll')) return true; return false }
	const wide = document.documentElement.clientWidth
	const out = [...document.querySelectorAll('body *')].filter(e => {
		const box = e.getBoundingClientRect()
		return box.width > 0 && box.height > 0 && (box.right > wide + 1 || box.left < -1) && !inside(e) && !e.classList.contains('skip') && e.tagName !== 'CAPTION'
	})
	const beyond = document.documentElement.scrollWidth > wide ? ['the page is ' + document.documentElement.scrollWidth + ' wide'] : []
	return [...beyond, ...out.slice(0, 5).map(e => e.tagName + '.' + e.getAttribute('class') + ': ' + e.textContent.slice(0, 40))]
})`

// Run with -artifacts to keep what it takes pictures of, and look at them.
func TestPagesFitTheirWindow(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	for name, html := range pages(t) {
		for _, v := range []browser.View{{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}, {Width: 360, Height: 740}, {Width: 360, Height: 740, Dark: true}} {
			p := b.Open(t, html, v)
			var beyond []string
			p.Do(t, overflow, nil, &beyond)
			if len(beyond) > 0 {
				t.Errorf("%s at %d: %s", name, v.Width, strings.Join(beyond, "; "))
			}
			picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d-dark-%v.png", name, v.Width, v.Dark))
			p.Do(t, `await page.screenshot({ path: given, fullPage: true })`, picture, nil)
			if info, err := os.Stat(picture); err != nil || info.Size() < 20_000 {
				t.Errorf("%s at %d: there is next to nothing to see: %v", name, v.Width, err)
			}
		}
	}
}
