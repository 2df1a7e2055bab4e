//go:build pages

package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// unseen returns the texts of rows that a user of a narrow window cannot read without a
// horizontal scroll bar, and the cells without a title.
const unseen = `
return page.evaluate(() => {
	const wrong = []
	for (const region of document.querySelectorAll('.scroll')) {
		const seen = region.getBoundingClientRect()
		if (region.scrollWidth > region.clientWidth) wrong.push(region.getAttribute('aria-labelledby') + ' scrolls sideways')
		for (const cell of region.querySelectorAll('tbody:not([aria-hidden]) :is(th, td)')) {
			const box = cell.firstChild
			const range = document.createRange()
			range.selectNodeContents(cell)
			const outside = [...range.getClientRects()].some(r => r.width > 0 && (r.left < seen.left || r.right > seen.right))
			if (outside || box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) wrong.push(cell.textContent.slice(0, 40))
			const title = getComputedStyle(cell, '::before').content
			if (cell.tagName === 'TD' && cell.textContent && !(title.length > 2)) wrong.push('no title: ' + cell.textContent.slice(0, 40))
		}
	}
	return wrong.slice(0, 8)
})`

// cards checks that rows show their text in a narrow window, and that the last card of a
// long table is reached.
func cards(t *testing.T, b *browser.Browser) {
	for name, html := range pages(t) {
		for _, width := range []int{390, 600} {
			p := b.Open(t, html, browser.View{Width: width, Height: 844})
			var wrong []string
			p.Do(t, unseen, nil, &wrong)
			if len(wrong) > 0 {
				t.Errorf("%s at %d: not seen: %q", name, width, wrong)
			}
		}
	}
	d := site(212)
	p := b.Open(t, drilled(t, d), browser.View{Width: 390, Height: 844})
	tab(t, p, "#workloads .scroll")
	last := by(d, asItCame)[211]
	for drawn := 0; ; {
		press(t, p, "End")
		l := at(t, p, "workloads")
		if l.Seen == last {
			break
		}
		if len(l.Names) == drawn {
			t.Fatalf("End reaches %s, the card %d, want %s", l.Seen, drawn, last)
		}
		drawn = len(l.Names)
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

// explained checks that a reason names its cause and leads to the fix, in a short and in
// a long list of findings.
func explained(t *testing.T, b *browser.Browser) {
	for _, more := range []int{0, 400} {
		d := site(212)
		found := d.Findings[0]
		d.Findings = nil
		for i := range more {
			d.Findings = append(d.Findings, drill.Finding{Trap: "quota", Basis: "observed", Subjects: []string{fmt.Sprintf("n%d", i)}, Text: "A ResourceQuota is too small.", Fix: "raise it", Workloads: []string{}})
		}
		d.Findings = append(d.Findings, found)
		p := b.Open(t, drilled(t, d), browser.View{})
		if more > 0 { // the filter leaves out the finding
			tab(t, p, "#fix-table-filter")
			p.Do(t, `await page.keyboard.type('n7')`, nil, nil)
		}
		tab(t, p, "#workloads tbody a")
		var why string
		p.Do(t, `return page.evaluate(() => document.activeElement.closest('td').innerText)`, nil, &why)
		if why != "Not applied" {
			t.Errorf("a reason with a fix is %q", why)
		}
		press(t, p, "Enter")
		p.Do(t, settle, nil, nil)
		var got struct {
			Row  string
			Seen bool
		}
		p.Do(t, `return page.evaluate(() => {
			const box = document.activeElement.getBoundingClientRect()
			const above = document.elementFromPoint(box.left + box.width / 2, box.top + 20)
			return { row: document.activeElement.closest('#fix-table tr') ? document.activeElement.innerText : '', seen: Boolean(above) && document.activeElement.contains(above) }
		})`, nil, &got)
		if !strings.HasPrefix(got.Row, found.Subjects[0]) || !got.Seen {
			t.Errorf("with %d more findings, the link leads to %+v, want %q", more, got, found.Subjects[0])
		}
		if text := words(t, p, "#workloads"); !strings.Contains(text, "No level in git: git declares no level") {
			t.Errorf("a reason without a finding has no text: %s", text)
		}
	}
}

// roomy checks the surplus of each workload.
func roomy(t *testing.T, b *browser.Browser) {
	p := b.Open(t, drilled(t, crowded()), browser.View{})
	var got []string
	p.Do(t, `return page.evaluate(() => [...document.querySelectorAll('#workloads tbody:not([aria-hidden]) tr')].map(row => [row.querySelector('th'), row.querySelector('[data-title=Surplus]')].map(cell => cell.textContent).join(' ')))`, nil, &got)
	if want := []string{"shop/web-0 1", "checkout/api-1 48", "search/cart-2 26"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// worstFirst checks that the first workload has the most missing pods, and not the lowest
// coverage.
func worstFirst(t *testing.T, b *browser.Browser) {
	d := site(2)
	for i, missing := range []int32{9, 400} { // of 10, and of 1000
		w := &d.Workloads[i]
		need := []int32{10, 1000}[i]
		coverage := 1 - float64(missing)/float64(need)
		w.Need, w.Coverage, w.Missing, w.Low = &need, &coverage, missing, true
	}
	l := at(t, b.Open(t, drilled(t, d), browser.View{}), "workloads")
	if want := d.Workloads[1].Name; !strings.HasSuffix(l.Names[0], want) || l.Sort[5] != "descending" {
		t.Errorf("first is %s, want %s: %v", l.Names[0], want, l.Sort)
	}
}

// titledOnPaper checks that a printed chart names its workload.
func titledOnPaper(t *testing.T, b *browser.Browser) {
	p := b.Open(t, backtested(t, tried(24)), browser.View{})
	p.Do(t, `await page.selectOption('#lines-workload', '1')`, nil, nil)
	text := strings.Join(sheets(t, p), " ")
	if !strings.Contains(text, "desiredreplicasofsearch/indexstatefulset") {
		t.Errorf("no sheet names the workload of the chart: %s", text)
	}
}
