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
// reach beyond it. Elements with a scroll bar may do that.
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

// shorn returns the cells whose text is cut off, except those that show the rest when
// they have the focus.
const shorn = `
return page.evaluate(() => [...document.querySelectorAll('td > div, th > div')]
	.filter(e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)
	.filter(e => { e.focus(); const whole = document.activeElement === e && e.scrollHeight <= e.clientHeight + 1 && e.scrollWidth <= e.clientWidth + 1; e.blur(); return !whole })
	.map(e => e.textContent.slice(0, 60)).slice(0, 5))`

// fit also takes pictures: run it with -artifacts to see them.
func fit(t *testing.T, b *browser.Browser) {
	for name, html := range pages(t) {
		for _, v := range []browser.View{{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}, {Width: 1024, Height: 900}, {Width: 360, Height: 740}, {Width: 360, Height: 740, Dark: true}} {
			p := b.Open(t, html, v)
			var beyond []string
			p.Do(t, overflow, nil, &beyond)
			if len(beyond) > 0 {
				t.Errorf("%s at %d: %s", name, v.Width, strings.Join(beyond, "; "))
			}
			var cut []string
			if p.Do(t, shorn, nil, &cut); len(cut) > 0 {
				t.Errorf("%s at %d cuts %q", name, v.Width, cut)
			}
			if name == "drill" {
				var on string
				p.Do(t, `await page.focus('#workloads .scroll'); await page.keyboard.press('Enter'); await page.keyboard.press('ArrowDown'); return page.evaluate(() => document.activeElement.className)`, nil, &on)
				if on != "more" {
					t.Errorf("%s at %d: Enter and an arrow come to %q, want a reason", name, v.Width, on)
				}
				p.Do(t, `await page.keyboard.press('Escape')`, nil, nil)
			}
			picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d-dark-%v.png", name, v.Width, v.Dark))
			p.Do(t, `await page.screenshot({ path: given, fullPage: true })`, picture, nil)
			if info, err := os.Stat(picture); err != nil || info.Size() < 20_000 {
				t.Errorf("%s at %d: there is next to nothing to see: %v", name, v.Width, err)
			}
		}
	}
}

// on shows a page on paper, and waits for the page to notice this with the next frame.
const on = `await page.emulateMedia({ media: 'print' }); await page.setViewportSize({ width: 718, height: 1000 });
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));`

func printed(t *testing.T, b *browser.Browser) {
	for name, html := range pages(t) {
		p := b.Open(t, html, browser.View{Dark: true, Width: 1280, Height: 900})
		p.Do(t, on, nil, nil)
		var beyond []string
		p.Do(t, overflow, nil, &beyond)
		if len(beyond) > 0 {
			t.Errorf("%s: %s", name, strings.Join(beyond, "; "))
		}
		var got struct {
			Hidden, Cut []string
			Paper       string
			Inputs      int
			Pages       int
		}
		p.Do(t, `
			const got = await page.evaluate(() => ({
				hidden: [...document.querySelectorAll('section')].filter(s => !s.hidden && s.getBoundingClientRect().height < 20).map(s => s.getAttribute('aria-labelledby')),
				cut: [...document.querySelectorAll('.scroll, td > div, th > div')].filter(s => s.scrollHeight > s.clientHeight + 1 || s.scrollWidth > s.clientWidth + 1).map(s => s.textContent.slice(0, 60)),
				paper: getComputedStyle(document.body).backgroundColor,
				inputs: [...document.querySelectorAll('.controls input')].filter(e => e.getClientRects().length > 0).length,
			}))
			const pdf = await page.pdf({ format: 'A4' })
			return { ...got, pages: pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length }`, nil, &got)
		if len(got.Hidden) > 0 || len(got.Cut) > 0 || got.Paper != "rgb(255, 255, 255)" || got.Inputs > 0 {
			t.Errorf("%s on paper: %+v", name, got)
		}
		if got.Pages < 2 || got.Pages > 20 {
			t.Errorf("%s has %d pages", name, got.Pages)
		}
	}
	p := b.Open(t, drilled(t, site(10_000)), browser.View{})
	p.Do(t, on, nil, nil)
	var told struct {
		Rows, Room int
		Status     string
	}
	p.Do(t, `return page.evaluate(() => ({ rows: document.querySelectorAll('#workloads tbody th').length, room: document.querySelectorAll('#workloads .room').length, status: document.querySelector('#workloads .count').textContent }))`, nil, &told)
	if told.Rows != 60 || told.Room != 0 || told.Status != "10,000 workloads, the first 60 of them printed" {
		t.Errorf("%+v", told)
	}
}

// A name in a scatter plot is nearer to its own point than to any other. The
// recommended candidate always has its name, so it is exempt.
func nearest(t *testing.T, b *browser.Browser) {
	for _, policies := range []int{13, 24, 30} {
		p := b.Open(t, backtested(t, tried(policies)), browser.View{})
		var got struct {
			Named int
			Wrong []string
		}
		p.Do(t, `return page.evaluate(() => {
			const found = { named: 0, wrong: [] }
			for (const svg of document.querySelectorAll('#waste-chart svg, #worst-chart svg')) {
				const points = [...svg.querySelectorAll('circle:not(.ring)')].map(c => ({ text: c.querySelector('title').textContent, x: c.cx.baseVal.value, y: c.cy.baseVal.value }))
				for (const name of svg.querySelectorAll('text.over:not(.strong)')) {
					const box = name.getBBox()
					const off = p => Math.hypot(Math.max(box.x - p.x, 0, p.x - box.x - box.width), Math.max(box.y - p.y, 0, p.y - box.y - box.height))
					const near = points.reduce((least, p) => off(p) < off(least) ? p : least)
					found.named++
					if (!near.text.startsWith(name.textContent)) found.wrong.push(name.textContent + ' is nearest to ' + near.text)
				}
			}
			return found
		})`, nil, &got)
		if got.Named == 0 || len(got.Wrong) > 0 {
			t.Errorf("%d policies, %d named: %q", policies, got.Named, got.Wrong)
		}
	}
}
