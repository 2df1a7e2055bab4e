//go:build pages

package page_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// faint returns the number of checked texts, and the texts with too little contrast to
// their background: by the formula of WCAG 2, with computed colours. The background of
// a text in an SVG is the background of the SVG, because no text is on top of a shape.
const faint = `
return page.evaluate(() => {
	const parse = text => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a] }
	const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]))
	const behind = element => {
		const layers = []
		for (let e = element; e; e = e.parentElement) {
			const colour = parse(getComputedStyle(e).backgroundColor)
			if (colour[3] > 0) layers.push(colour)
			if (colour[3] === 1) break
		}
		let colour = [255, 0, 255]
		for (const layer of layers.reverse()) colour = over(layer, colour)
		return colour
	}
	const light = colour => {
		const [r, g, b] = colour.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		return 0.2126 * r + 0.7152 * g + 0.0722 * b
	}
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05) }
	const opacity = element => { let all = 1; for (let e = element; e; e = e.parentElement) all *= getComputedStyle(e).opacity; return all }

	const found = []
	let looked = 0
	const look = (element, colour, text) => {
		looked++
		const [r, g, b, a] = parse(colour)
		const below = behind(element)
		const got = ratio(over([r, g, b, a * opacity(element)], below), below)
		if (!(got >= 4.5)) found.push(got.toFixed(2) + ' ' + colour + ': ' + text.slice(0, 40))
	}
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	while (walker.nextNode()) {
		const text = walker.currentNode
		const element = text.parentElement
		if (!text.data.trim() || ['STYLE', 'TITLE'].includes(element.tagName)) continue
		const range = document.createRange()
		range.selectNodeContents(text)
		if (range.getClientRects().length === 0) continue
		const style = getComputedStyle(element)
		look(element, element instanceof SVGElement ? style.fill : style.color, text.data)
	}
	return { looked, found, paper: getComputedStyle(document.body).backgroundColor }
})`

func contrast(t *testing.T, b *browser.Browser) {
	for name, html := range documents(t) {
		papers := map[string]bool{}
		for _, dark := range []bool{false, true} {
			p := b.Open(t, html, browser.View{Dark: dark})
			for _, state := range []string{``, `for (const s of await page.locator('summary').all()) await s.click()`, on} {
				p.Do(t, state, nil, nil)
				var got struct {
					Looked int
					Found  []string
					Paper  string
				}
				p.Do(t, faint, nil, &got)
				if got.Looked < 40 {
					t.Errorf("%s: only %d texts were looked at", name, got.Looked)
				}
				if len(got.Found) > 0 {
					t.Errorf("%s, dark %v, after %q: below 4.5:\n%s", name, dark, state, strings.Join(got.Found[:min(8, len(got.Found))], "\n"))
				}
				if state == "" {
					papers[got.Paper] = true
				}
			}
		}
		if len(papers) != 2 {
			t.Errorf("%s has one paper in both schemes: %v", name, papers)
		}
	}
}
