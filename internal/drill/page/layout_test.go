//go:build pages

package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// overflow returns whether the page is wider than its window, and the elements that
// reach beyond it.
const overflow = `
return page.evaluate(() => {
	const wide = document.documentElement.clientWidth
	const out = [...document.querySelectorAll('body *')].filter(e => {
		const box = e.getBoundingClientRect()
		return box.width > 0 && box.height > 0 && (box.right > wide + 1 || box.left < -1) && e.tagName !== 'CAPTION'
	})
	const beyond = document.documentElement.scrollWidth > wide ? ['the page is ' + document.documentElement.scrollWidth + ' wide'] : []
	return [...beyond, ...out.slice(0, 5).map(e => e.tagName + '.' + e.getAttribute('class') + ': ' + e.textContent.slice(0, 40))]
})`

// shorn returns the texts that are cut off or on top of another, in tables and charts.
const shorn = `
return page.evaluate(() => {
	const cut = [...document.querySelectorAll('td, th, dd, p')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
	const texts = [...document.querySelectorAll('.chart text')]
	const over = texts.filter((e, i) => {
		const a = e.getBoundingClientRect()
		return texts.slice(i + 1).some(o => { const b = o.getBoundingClientRect(); return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom })
	})
	return [...cut, ...over].map(e => e.textContent.slice(0, 60)).slice(0, 5)
})`

// unfold opens all details.
const unfold = `for (const s of await page.locator('summary').all()) await s.click();`

// fit also takes pictures: run it with -artifacts to see them.
func fit(t *testing.T, b *browser.Browser) {
	for name, html := range documents(t) {
		for _, v := range []browser.View{{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}, {Width: 1024, Height: 900}, {Width: 720, Height: 900}, {Width: 600, Height: 900}, {Width: 390, Height: 844}, {Width: 360, Height: 740, Dark: true}} {
			p := b.Open(t, html, v)
			picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d-dark-%v.png", name, v.Width, v.Dark))
			p.Do(t, `await page.screenshot({ path: given, fullPage: true })`, picture, nil)
			if info, err := os.Stat(picture); err != nil || info.Size() < 20_000 {
				t.Errorf("%s at %d: there is next to nothing to see: %v", name, v.Width, err)
			}
			var beyond, cut []string
			p.Do(t, unfold+overflow, nil, &beyond)
			p.Do(t, shorn, nil, &cut)
			if len(beyond)+len(cut) > 0 {
				t.Errorf("%s at %d: beyond the window: %s; cut off: %q", name, v.Width, strings.Join(beyond, "; "), cut)
			}
		}
	}
}

// on shows a page on paper, and waits for the page to notice this with the next frame.
const on = `await page.emulateMedia({ media: 'print' }); await page.setViewportSize({ width: 718, height: 1000 });
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));`

func printed(t *testing.T, b *browser.Browser) {
	for name, html := range documents(t) {
		p := b.Open(t, html, browser.View{Dark: true, Width: 1280, Height: 900})
		p.Do(t, on, nil, nil)
		var beyond, cut []string
		p.Do(t, overflow, nil, &beyond)
		p.Do(t, shorn, nil, &cut)
		if len(beyond)+len(cut) > 0 {
			t.Errorf("%s: beyond the paper: %s; cut off: %q", name, strings.Join(beyond, "; "), cut)
		}
		var got struct {
			Paper string
			Pages int
		}
		p.Do(t, `
			const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
			const pdf = await page.pdf({ format: 'A4' })
			return { paper, pages: pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length }`, nil, &got)
		if got.Paper != "rgb(255, 255, 255)" || got.Pages > 20 {
			t.Errorf("%s on paper: %+v", name, got)
		}
	}
	// A long table prints its first rows, and the number of the others.
	text := strings.Join(sheets(t, b.Open(t, drilled(t, site(10_000)), browser.View{})), " ")
	if !strings.Contains(text, "9,940moreworkloads") {
		t.Errorf("no sheet has the number of other workloads: %.2000s", text)
	}
}

// large checks that a page of 10,000 workloads opens, and reaches its last one.
func large(t *testing.T, b *browser.Browser) {
	d := site(10_000)
	p := b.Open(t, drilled(t, d), browser.View{})
	var seen string
	p.Do(t, `await page.locator('#workloads ~ details summary').click(); return page.locator('#workloads ~ details tbody th').last().innerText()`, nil, &seen)
	if last := d.Workloads[9999]; !strings.Contains(seen, last.Name) {
		t.Errorf("the last workload is %q, want %s", seen, last.Name)
	}
}
