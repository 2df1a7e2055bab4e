//go:build pages

package page_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

var (
	ligatures    = strings.NewReplacer("\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl")
	pdfObject    = regexp.MustCompile(`(?s)(\d+) 0 obj\s(.*?)endobj`)
	pdfFont      = regexp.MustCompile(`/(F\d+) (\d+) 0 R`)
	pdfReference = regexp.MustCompile(`/(Contents|ToUnicode) (\d+) 0 R`)
	pdfText      = regexp.MustCompile(`/(F\d+) [\d.]+ Tf|<([0-9A-F]+)>`)
	pdfLetters   = regexp.MustCompile(`<([0-9A-F]{4})> (?:<([0-9A-F]{4})> )?<([0-9A-F]+)>`)
)

// sheets prints a page, and returns the text of each sheet of A4 without spaces. It reads
// PDFs of Chromium only: their objects are in the order of the sheets.
func sheets(t *testing.T, p *browser.Page) []string {
	t.Helper()
	var encoded string
	p.Do(t, `return (await page.pdf({ format: 'A4' })).toString('base64')`, nil, &encoded)
	file, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string][]byte{}
	var texts []string
	found := pdfObject.FindAllSubmatch(file, -1)
	for _, object := range found {
		objects[string(object[1])] = object[2]
	}
	for _, object := range found {
		sheet := object[2]
		if !bytes.Contains(sheet, []byte("/Type /Page\n")) {
			continue
		}
		fonts := map[string]map[string]string{}
		for _, font := range pdfFont.FindAllSubmatch(sheet, -1) {
			fonts[string(font[1])] = letters(stream(t, objects, objects[string(font[2])]))
		}
		var font map[string]string
		var text strings.Builder
		for _, part := range pdfText.FindAllSubmatch(stream(t, objects, sheet), -1) {
			if len(part[1]) > 0 {
				font = fonts[string(part[1])]
			}
			for glyph := range slices.Chunk(part[2], 4) {
				text.WriteString(font[string(glyph)])
			}
		}
		texts = append(texts, bare(ligatures.Replace(text.String())))
	}
	return texts
}

// stream returns the content of a sheet, or the letters of a font.
func stream(t *testing.T, objects map[string][]byte, of []byte) []byte {
	t.Helper()
	reference := pdfReference.FindSubmatch(of)
	if reference == nil {
		t.Fatalf("no stream in %q", of)
	}
	dictionary, packed, _ := bytes.Cut(objects[string(reference[2])], []byte("stream\n"))
	if !bytes.Contains(dictionary, []byte("/FlateDecode")) { // a short stream
		return packed
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// letters returns the text of each glyph of a font, by its hexadecimal number.
func letters(table []byte) map[string]string {
	all := map[string]string{}
	_, table, _ = bytes.Cut(table, []byte("endcodespacerange"))
	for _, line := range pdfLetters.FindAllSubmatch(table, -1) {
		first, _ := strconv.ParseUint(string(line[1]), 16, 16)
		last, err := strconv.ParseUint(string(line[2]), 16, 16)
		if err != nil { // a single glyph
			last = first
		}
		text, _ := hex.DecodeString(string(line[3]))
		var units []uint16
		for pair := range slices.Chunk(text, 2) {
			units = append(units, uint16(pair[0])<<8|uint16(pair[1]))
		}
		for glyph := first; glyph <= last; glyph++ {
			all[fmt.Sprintf("%04X", glyph)] = string(utf16.Decode(units))
			units[len(units)-1]++
		}
	}
	return all
}

// bare removes all spaces.
func bare(text string) string { return strings.Join(strings.Fields(text), "") }

// Each printed row is below the head of its table, and the title of the section is on the
// first of these sheets. No head is without a row, and no sheet is empty.
func headed(t *testing.T, b *browser.Browser) {
	for name, html := range documents(t) {
		p := b.Open(t, html, browser.View{})
		printed := sheets(t, p)
		var tables []struct {
			Title, Head string
			Rows        []string
		}
		p.Do(t, on+`return page.evaluate(() => [...document.querySelectorAll('table')].filter(table => !table.closest('details')).map(table => ({
			title: table.closest('section').querySelector('h2').textContent,
			head: table.tHead.textContent,
			rows: [...table.querySelectorAll('tbody tr')].map(row => row.textContent),
		})))`, nil, &tables)
		for i, sheet := range printed {
			if sheet == "" {
				t.Errorf("%s: sheet %d of %d is empty", name, i+1, len(printed))
			}
		}
		for _, table := range tables {
			head := bare(table.Head)
			first := slices.IndexFunc(printed, func(text string) bool { return strings.Contains(text, head) })
			if first < 0 || !strings.Contains(printed[first], bare(table.Title)) {
				t.Errorf("%s: the title %q is not on the first sheet of its table", name, table.Title)
			}
			with := map[int]bool{} // sheets with a row
			for _, row := range table.Rows {
				sheet := slices.IndexFunc(printed, func(text string) bool {
					_, below, there := strings.Cut(text, head)
					return there && strings.Contains(below, bare(row))
				})
				if sheet < 0 {
					t.Errorf("%s: no sheet has the row %q below the head %q", name, row, table.Head)
				}
				with[sheet] = true
			}
			for i, sheet := range printed {
				if strings.Contains(sheet, head) && !with[i] {
					t.Errorf("%s: sheet %d has the head %q without a row", name, i+1, table.Head)
				}
			}
		}
	}
}
