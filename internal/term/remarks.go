package term

import "slices"

// Remarks are texts about subjects, with fixes. Remarks with the same title and text are one.
type Remarks []remark

type remark struct {
	title, text     string
	subjects, fixes []string
}

// Add adds a text about a subject, and the fix. Both may be empty.
func (r *Remarks) Add(title, subject, text, fix string) {
	i := slices.IndexFunc(*r, func(one remark) bool { return one.title == title && one.text == text })
	if i < 0 {
		i = len(*r)
		*r = append(*r, remark{title: title, text: text})
	}
	one := &(*r)[i]
	one.subjects = append(one.subjects, subject)
	if !slices.Contains(one.fixes, fix) {
		one.fixes = append(one.fixes, fix)
	}
}

// Remarks writes each remark once, with the list of its subjects and its different fixes.
func (p *Page) Remarks(all Remarks, list func(subjects []string) string) {
	for _, r := range all {
		p.Say("", "%s: %s", r.title, list(r.subjects))
		if r.text == "" {
			continue
		}
		p.Say("  ", "%s", r.text)
		for _, fix := range r.fixes {
			p.Fix("  ", fix)
		}
		p.Line("")
	}
}
