//go:build pages

package page_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// until presses Tab until the element with the focus matches a selector.
const until = `
for (let i = 0; i < 200; i++) {
	await page.keyboard.press('Tab')
	if (await page.evaluate(given => document.activeElement.matches(given), given)) return
}
throw new Error('Tab does not reach ' + given)`

// A look is the visible state of a table.
type look struct {
	Sort   []string // by header: ascending, descending or none
	Names  []string // of the drawn rows, as namespace/kind/name
	Index  []int    // of these rows, in the full table
	Count  int      // of the rows in the full table, without the header
	Status string
	Seen   string // name of the last row that lies in the region
} // name of the last row in the visible region

const read = `
return page.evaluate(given => {
	const part = document.getElementById(given)
	const region = part.querySelector('.scroll').getBoundingClientRect()
	const rows = [...part.querySelectorAll('tbody:not([aria-hidden]) tr')]
	const label = row => row.querySelector('.name').title || row.querySelector('.name').textContent
	const inside = rows.filter(row => { const box = row.getBoundingClientRect(); return box.bottom <= region.bottom + 2 && box.top >= region.top })
	return {
		sort: [...part.querySelectorAll('thead th')].map(th => th.getAttribute('aria-sort') || 'none'),
		names: rows.map(label), index: rows.map(row => Number(row.getAttribute('aria-rowindex'))),
		count: Number(part.querySelector('table').getAttribute('aria-rowcount')) - 1,
		status: part.querySelector('.count') ? part.querySelector('.count').textContent : '',
		seen: inside.length > 0 ? label(inside.at(-1)) : '',
	}
}, given)`

// settle waits until the page is drawn and has stopped scrolling.
const settle = `await page.evaluate(async () => {
	const frame = () => new Promise(done => requestAnimationFrame(done))
	const places = () => [...document.querySelectorAll('.scroll')].map(e => e.scrollTop).join()
	for (let still = 0, last = places(); still < 20; last = places()) {
		await frame()
		still = places() === last ? still + 1 : 0
	}
})`

func at(t *testing.T, p *browser.Page, id string) (l look) {
	t.Helper()
	p.Do(t, settle, nil, nil)
	p.Do(t, read, id, &l)
	for i := range l.Index {
		if l.Index[i] != l.Index[0]+i {
			t.Fatalf("rows are not one after another: %v", l.Index)
		}
	}
	return l
}

func tab(t *testing.T, p *browser.Page, selector string) {
	t.Helper()
	p.Do(t, until, selector, nil)
}

func press(t *testing.T, p *browser.Page, keys ...string) {
	t.Helper()
	for _, key := range keys {
		p.Do(t, `await page.keyboard.press(given)`, key, nil)
	}
}

// by returns the names of the workloads in an order, unknown values last.
func by(d drill.Document, order func(a, b drill.Workload) int) []string {
	all := slices.Clone(d.Workloads)
	slices.SortStableFunc(all, order)
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = fmt.Sprintf("%s/%s/%s", w.Namespace, w.Kind, w.Name)
	}
	return names
}

func needs(sign int) func(a, b drill.Workload) int {
	return func(a, b drill.Workload) int {
		if a.Need == nil || b.Need == nil {
			switch {
			case a.Need != nil:
				return -1
			case b.Need != nil:
				return 1
			}
			return 0
		}
		return sign * cmp.Compare(*a.Need, *b.Need)
	}
}

func asItCame(drill.Workload, drill.Workload) int { return 0 }

// begins checks that the visible rows are a section of the full order.
func (l look) begins(t *testing.T, whole []string) {
	t.Helper()
	if len(l.Names) == 0 || l.Count != len(whole) {
		t.Fatalf("%d rows are there of %d, want some of %d", len(l.Names), l.Count, len(whole))
	}
	first := l.Index[0] - 2
	if want := whole[first : first+len(l.Names)]; !slices.Equal(l.Names, want) {
		t.Errorf("from row %d on there is %v, want %v", first, l.Names[:min(5, len(l.Names))], want[:min(5, len(want))])
	}
}

func sorted(t *testing.T, b *browser.Browser) {
	d := site(212)
	p := b.Open(t, drilled(t, d), browser.View{})
	start := at(t, p, "workloads")
	start.begins(t, by(d, asItCame))
	if start.Sort[5] != "descending" || start.Status != "212 workloads" {
		t.Errorf("it does not begin with the worst: %+v", start)
	}
	tab(t, p, "#workloads th:nth-child(3) button")
	press(t, p, "Enter")
	l := at(t, p, "workloads")
	l.begins(t, by(d, needs(-1)))
	if l.Sort[2] != "descending" || l.Sort[5] != "none" {
		t.Errorf("after Enter: %v", l.Sort)
	}
	press(t, p, "Space")
	l = at(t, p, "workloads")
	l.begins(t, by(d, needs(1)))
	if l.Sort[2] != "ascending" {
		t.Errorf("after Space: %v", l.Sort)
	}
	// An unknown value is last in either direction.
	tab(t, p, "#workloads .scroll")
	press(t, p, "End")
	if l := at(t, p, "workloads"); l.Seen != by(d, needs(1))[211] {
		t.Errorf("the end of the table is %s", l.Seen)
	}
}

func filtered(t *testing.T, b *browser.Browser) {
	d := site(212)
	p := b.Open(t, drilled(t, d), browser.View{})
	tab(t, p, "#workloads-filter")
	p.Do(t, `await page.keyboard.type('Media/ CONFIGMAP')`, nil, nil)
	var want []string
	for _, w := range d.Workloads {
		if w.Namespace == "media" && len(w.Causes) > 0 && strings.Contains(w.Causes[0].Text, "ConfigMap") {
			want = append(want, fmt.Sprintf("%s/%s/%s", w.Namespace, w.Kind, w.Name))
		}
	}
	l := at(t, p, "workloads")
	if len(want) == 0 || !slices.Equal(l.Names, want) || l.Status != fmt.Sprintf("%d of 212 workloads", len(want)) {
		t.Errorf("%+v, want %v", l, want)
	}
	p.Do(t, `await page.keyboard.type(' nowhere')`, nil, nil)
	if l := at(t, p, "workloads"); len(l.Names) != 0 || l.Status != "0 of 212 workloads" {
		t.Errorf("%+v", l)
	}
	press(t, p, "Control+A", "Delete", "Tab")
	p.Do(t, `await page.keyboard.type('frozen')`, nil, nil)
	if l := at(t, p, "workloads"); l.Count != d.Fleet.Frozen || l.Status != fmt.Sprintf("%d of 212 workloads", d.Fleet.Frozen) {
		t.Errorf("%d frozen are %+v", d.Fleet.Frozen, l)
	}
	var live string
	p.Do(t, `return page.evaluate(() => document.querySelector('#workloads .count').getAttribute('aria-live'))`, nil, &live)
	if live != "polite" {
		t.Errorf("the count is told %q", live)
	}
}

func large(t *testing.T, b *browser.Browser) {
	d := site(10_000)
	p := b.Open(t, drilled(t, d), browser.View{})
	at(t, p, "workloads").begins(t, by(d, asItCame))
	tab(t, p, "#workloads th:nth-child(3) button")
	press(t, p, "Enter")
	whole := by(d, needs(-1))
	at(t, p, "workloads").begins(t, whole)
	tab(t, p, "#workloads .scroll")
	press(t, p, "End")
	l := at(t, p, "workloads")
	l.begins(t, whole)
	if l.Seen != whole[len(whole)-1] || l.Index[len(l.Index)-1] != 10_001 {
		t.Errorf("the end of the table is %s in row %d, want %s", l.Seen, l.Index[len(l.Index)-1], whole[len(whole)-1])
	}
	if len(l.Names) > 200 {
		t.Errorf("%d rows are there at once", len(l.Names))
	}
	press(t, p, "PageUp", "PageUp")
	if up := at(t, p, "workloads"); up.Seen == l.Seen || up.Seen == "" {
		t.Errorf("two pages up is still %q", up.Seen)
	} else {
		up.begins(t, whole)
	}
	press(t, p, "Home")
	if l := at(t, p, "workloads"); l.Index[0] != 2 {
		t.Errorf("it begins at row %d", l.Index[0])
	}
	// A page is sent by email, so its size has a limit.
	if size := len(drilled(t, d)); size > 15<<20 {
		t.Errorf("it has %d bytes", size)
	}
}

// The arrow keys reach truncated text, row by row and past the rows that were drawn.
// The focus survives the removal of its row.
func readByArrows(t *testing.T, b *browser.Browser) {
	p := b.Open(t, drilled(t, site(10_000)), browser.View{})
	type place struct {
		Row    int // in the full table; -1 if no row has the focus
		Inside bool
		Region bool // the region of the table has the focus
	}
	where := func() (got place) {
		t.Helper()
		p.Do(t, settle, nil, nil)
		p.Do(t, `return page.evaluate(() => {
			const [e, region] = [document.activeElement, document.querySelector('#workloads .scroll')]
			const row = e.closest('tbody tr')
			if (!row) return { row: -1, region: e === region }
			const [box, seen, head] = [row.getBoundingClientRect(), region.getBoundingClientRect(), region.querySelector('thead').getBoundingClientRect()]
			return { row: Number(row.getAttribute('aria-rowindex')), inside: box.top >= head.bottom - 1 && box.top < seen.bottom - 10 }
		})`, nil, &got)
		return got
	}
	tab(t, p, "#workloads .scroll")
	press(t, p, "Enter")
	if got := where(); got.Row != 2 || !got.Inside {
		t.Fatalf("Enter reads %+v", got)
	}
	press(t, p, slices.Repeat([]string{"ArrowDown"}, 60)...)
	if got := where(); got.Row != 62 || !got.Inside {
		t.Errorf("60 rows down it reads %+v", got)
	}
	press(t, p, slices.Repeat([]string{"ArrowUp"}, 55)...)
	if got := where(); got.Row != 7 || !got.Inside {
		t.Errorf("55 rows up it reads %+v", got)
	}
	p.Do(t, `await page.evaluate(() => { document.querySelector('#workloads .scroll').scrollTop = 100000 })`, nil, nil)
	if got := where(); !got.Region {
		t.Errorf("with its row the focus went to %+v", got)
	}
}

func reached(t *testing.T, b *browser.Browser) {
	for name, html := range pages(t) {
		p := b.Open(t, html, browser.View{})
		var got struct{ Missed, Ringless []string }
		p.Do(t, `
			const all = await page.evaluate(() => {
				const all = [...document.querySelectorAll('a, button, input, select, [tabindex="0"]')].filter(e => e.getClientRects().length > 0)
				all.forEach((e, i) => { e.dataset.number = i })
				return all.map(e => e.tagName + ' ' + (e.id || e.textContent.slice(0, 30)))
			})
			const missed = new Set(all.keys())
			const ringless = []
			for (let i = 0; i < all.length + 5; i++) {
				await page.keyboard.press('Tab')
				const [n, ring] = await page.evaluate(() => {
					const e = document.activeElement
					return [e.dataset.number, getComputedStyle(e).outlineStyle !== 'none' && parseFloat(getComputedStyle(e).outlineWidth) >= 1]
				})
				if (n === undefined) continue
				missed.delete(Number(n))
				if (!ring) ringless.push(all[n])
			}
			return { missed: [...missed].map(i => all[i]), ringless }`, nil, &got)
		if len(got.Missed) > 0 || len(got.Ringless) > 0 {
			t.Errorf("%s: not reached by Tab: %v; no ring around: %v", name, got.Missed, got.Ringless)
		}
	}
}

func chosen(t *testing.T, b *browser.Browser) {
	d := tried(24)
	p := b.Open(t, backtested(t, d), browser.View{})
	type drawn struct {
		Label, Level, Second string
		Areas                int
	}
	look := func() (got drawn) {
		t.Helper()
		p.Do(t, `return page.evaluate(() => {
			const svg = document.querySelector('#lines-chart svg')
			const path = of => { const e = svg.querySelector(of); return e ? e.getAttribute('d') : '' }
			return { label: svg.getAttribute('aria-label'), level: path('.level:not(.second)'), second: path('.level.second'), areas: path('.need').split('M').length - 1 }
		})`, nil, &got)
		return got
	}
	first := look()
	if !strings.Contains(first.Label, "shop/web") || !strings.Contains(first.Label, "R10 up 26h 10%") || first.Level == "" || first.Second != "" {
		t.Errorf("%+v", first)
	}
	tab(t, p, "#lines-workload")
	press(t, p, "ArrowDown", "ArrowDown")
	images := look()
	observed := 0
	for _, s := range d.Pictures.Needs[2] {
		if s[2] > 0 {
			observed++
		}
	}
	if !strings.Contains(images.Label, "media/images") || images.Level == first.Level || images.Areas != observed {
		t.Errorf("%+v, of %d stretches", images, observed)
	}
	press(t, p, "Tab", "ArrowDown")
	other := look()
	if !strings.Contains(other.Label, d.Candidates[0].Name) || other.Level == images.Level {
		t.Errorf("%+v", other)
	}
	press(t, p, "Tab", "ArrowDown")
	if both := look(); both.Second != images.Level || both.Level != other.Level {
		t.Errorf("%+v", both)
	}
}
