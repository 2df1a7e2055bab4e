//go:build pages

package page_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// untitled returns the cells of cards that have a text and no title.
const untitled = `
return page.evaluate(() => [...document.querySelectorAll('td')]
	.filter(cell => cell.textContent.trim() && !(getComputedStyle(cell, '::before').content.length > 3))
	.map(cell => cell.textContent.slice(0, 40)).slice(0, 8))`

// cards checks that each cell of a row has its title in a narrow window.
func cards(t *testing.T, b *browser.Browser) {
	for name, html := range documents(t) {
		for _, width := range []int{390, 600} {
			p := b.Open(t, html, browser.View{Width: width, Height: 844})
			var wrong []string
			p.Do(t, unfold+untitled, nil, &wrong)
			if len(wrong) > 0 {
				t.Errorf("%s at %d: no title: %q", name, width, wrong)
			}
		}
	}
}

// aged checks that no age and no time is broken into lines, or is cut off.
func aged(t *testing.T, b *browser.Browser) {
	html := drilled(t, site(212))
	for name, c := range map[string]struct {
		view  browser.View
		media string
	}{"wide": {}, "1024": {view: browser.View{Width: 1024, Height: 900}}, "390": {view: browser.View{Width: 390, Height: 844}}, "paper": {media: on}} {
		p := b.Open(t, html, c.view)
		var got struct {
			Ages   int
			Broken []string
		}
		p.Do(t, c.media+`return page.evaluate(() => {
			const got = { ages: 0, broken: [] }
			for (const cell of document.querySelectorAll('[data-title=Age], [data-title=For], [data-title="To capacity"]')) {
				const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
				while (walker.nextNode()) {
					const range = document.createRange()
					range.selectNodeContents(walker.currentNode)
					const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top)))
					got.ages++
					if (lines.size !== 1 || range.getBoundingClientRect().right > cell.getBoundingClientRect().right) got.broken.push(cell.textContent)
				}
			}
			return got
		})`, nil, &got)
		if got.Ages < 60 || len(got.Broken) > 0 {
			t.Errorf("%s: of %d ages, these are broken: %q", name, got.Ages, got.Broken[:min(len(got.Broken), 5)])
		}
	}
}

// explained checks that a reason leads to the fix.
func explained(t *testing.T, b *browser.Browser) {
	d := site(212)
	p := b.Open(t, drilled(t, d), browser.View{})
	var row string
	p.Do(t, `
		await page.locator('table a').first().focus()
		await page.keyboard.press('Enter')
		return page.locator(':target').innerText()`, nil, &row)
	if !strings.HasPrefix(row, d.Findings[0].Subjects[0]) {
		t.Errorf("the link leads to %q, want %q", row, d.Findings[0].Subjects[0])
	}
}
