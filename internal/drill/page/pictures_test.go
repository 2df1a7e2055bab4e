//go:build pages

package page_test

import (
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

var update = flag.Bool("update", false, "write the pictures of the README to internal/docs")

// outside returns the texts of a drawing that are beyond the drawing, or partly beyond a
// box that contains their middle.
const outside = `
return page.evaluate(() => {
	const drawing = document.querySelector('svg').getBoundingClientRect()
	const boxes = [...document.querySelectorAll('rect')].map(e => e.getBoundingClientRect())
	const within = (inner, outer) => inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom
	const texts = [...document.querySelectorAll('text')]
	const wrong = texts.filter(e => {
		const box = e.getBoundingClientRect()
		const x = (box.left + box.right) / 2
		const y = (box.top + box.bottom) / 2
		const around = boxes.filter(b => x > b.left && x < b.right && y > b.top && y < b.bottom)
		return box.width === 0 || !within(box, drawing) || around.some(b => !within(box, b))
	})
	return texts.length < 5 ? ['there are ' + texts.length + ' texts'] : wrong.map(e => e.textContent)
})`

// pictures renders the pictures of the README. With -update, it writes the picture of the
// page.
func pictures(t *testing.T, b *browser.Browser) {
	drawing, err := os.ReadFile(filepath.Join("..", "..", "docs", "flow.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dark := range []bool{false, true} {
		p := b.Open(t, append([]byte("<!doctype html><title>flow</title>"), drawing...), browser.View{Width: 900, Height: 400, Dark: dark})
		var wrong []string
		p.Do(t, outside, nil, &wrong)
		if len(wrong) > 0 {
			t.Errorf("flow.svg, dark %v: clipped: %q", dark, wrong)
		}
	}

	picture := filepath.Join(t.ArtifactDir(), "drill.png")
	published, err := filepath.Abs(filepath.Join("..", "..", "docs", "drill.png"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		picture = published
	}
	p := b.Open(t, drilled(t, shown()), browser.View{Width: 1000, Height: 870})
	var cut, beyond []string
	p.Do(t, shorn, nil, &cut)
	p.Do(t, overflow, nil, &beyond)
	if len(cut)+len(beyond) > 0 {
		t.Errorf("the page of the picture is clipped: %q", append(cut, beyond...))
	}
	p.Do(t, `await page.screenshot({ path: given })`, picture, nil)
	for _, file := range []string{picture, published} {
		colours(t, file)
	}
}

// colours fails the test if a picture is small or has few colours.
func colours(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	size := picture.Bounds()
	seen := map[[3]uint32]bool{}
	for y := size.Min.Y; y < size.Max.Y; y += 2 {
		for x := size.Min.X; x < size.Max.X; x += 2 {
			red, green, blue, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{red, green, blue}] = true
		}
	}
	if size.Dx() < 900 || size.Dy() < 400 || len(seen) < 20 {
		t.Errorf("%s has %d x %d pixels and %d colours: nothing to see", file, size.Dx(), size.Dy(), len(seen))
	}
}

// shown returns the drill of the README: a site with six workloads, which passes.
func shown() drill.Document {
	d := site(0)
	d.LeftOut = []drill.LeftOut{}
	for i, name := range []string{"web", "api", "cart", "search", "images", "payments"} {
		w := scored(14 + i)
		w.Namespace = "shop"
		w.Name = name
		w.Causes = []drill.Cause{}
		w.Rollout = nil
		w.Frozen = nil
		d.Workloads = append(d.Workloads, w)
	}
	sum(&d)
	placed(&d, room.LikelyFits, 1000*d.Fleet.Rebuilt)
	return d
}
