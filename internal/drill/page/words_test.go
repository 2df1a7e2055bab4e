//go:build pages

package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

func harmless(t *testing.T, b *browser.Browser) {
	for name, html := range besiegedPages(t) {
		p := b.Open(t, html, browser.View{})
		var got struct {
			Hit   bool
			Extra []string
			Heads []string
		}
		p.Do(t, `return page.evaluate(() => ({
			hit: 'hit' in window || 'hit' in Object.prototype,
			extra: [...document.querySelectorAll('img, base, iframe, object, embed, script, [onerror], [onfocus], [autofocus], a[href]:not([href^="#fix-"])')].map(e => e.outerHTML.slice(0, 60)),
			heads: [...document.querySelectorAll('tbody th')].map(e => e.textContent),
		}))`, nil, &got)
		if got.Hit || len(got.Extra) > 0 {
			t.Errorf("%s: text became markup: %v %q", name, got.Hit, got.Extra)
		}
		for _, text := range hostile[:4] {
			if !slices.ContainsFunc(got.Heads, func(head string) bool { return strings.Contains(head, text) }) {
				t.Errorf("%s: no row is called %q", name, text)
			}
		}
	}
}

func labelled(t *testing.T, b *browser.Browser) {
	for name, html := range documents(t) {
		p := b.Open(t, html, browser.View{})
		var wrong []string
		p.Do(t, `return page.evaluate(() => {
			const wrong = []
			const check = (ok, text) => { if (!ok) wrong.push(text) }
			const one = selector => document.querySelectorAll(selector).length === 1
			check(document.documentElement.lang === 'en', 'lang')
			check(document.title.length > 10, 'title')
			for (const landmark of ['header', 'main', 'footer', 'h1']) check(one(landmark), 'not one ' + landmark)
			const named = e => (e.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id)).filter(Boolean).map(e => e.textContent).join('')
			for (const e of document.querySelectorAll('section, [role=region]')) check(named(e), 'a section without a name: ' + e.textContent.slice(0, 30))
			for (const e of document.querySelectorAll('table')) {
				check(e.caption && e.caption.textContent, 'a table without a caption')
				check([...e.querySelectorAll('thead th')].every(th => th.scope === 'col' && th.textContent), 'a header without a scope')
				check([...e.querySelectorAll('tbody tr')].every(tr => tr.firstChild.scope === 'row'), 'a row without a header')
			}
			for (const e of document.querySelectorAll('.chart')) check(e.getAttribute('role') === 'img' && e.getAttribute('aria-label').length > 20, 'a chart without words')
			for (const e of document.querySelectorAll('svg:not([role], .chart svg)')) check(e.getAttribute('aria-hidden') === 'true', 'a drawing that is neither named nor hidden')
			const levels = [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))
			check(levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), 'headings leave a level out')
			const ids = [...document.querySelectorAll('[id]')].map(e => e.id)
			check(new Set(ids).size === ids.length, 'an id twice')
			return wrong
		})`, nil, &wrong)
		if len(wrong) > 0 {
			t.Errorf("%s: %s", name, strings.Join(wrong, "; "))
		}
	}
}
