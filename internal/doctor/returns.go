package doctor

import (
	"bytes"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// returns describes the template that a rebuild should start with for a rollout in git. The
// answer is yes if a rebuild starts with this template without a user.
func (e *examination) returns(s subject) (text string, itself Answer) {
	r := s.entry.Rollout
	if r == (checkpoint.Rollout{}) {
		return "", Answer{}
	}
	side, template := "the new template", r.To
	if r.Returns == checkpoint.SideFrom {
		side, template = "the template before", r.From
	}
	text = fmt.Sprintf("%s, at milestone %d %%", side, r.Milestone)
	if template.Images != "" {
		text += ": " + string(template.Images)
	}
	itself = e.restored(s, r)
	if !itself.Yes() {
		text += "; " + itself.Text()
	}
	return text, itself
}

// imagesVariable is a variable of the admission policy that replaces images.
const imagesVariable = "name: returns\n"

// restored answers whether a rebuild creates the template that a rollout entry selects.
func (e *examination) restored(s subject, r checkpoint.Rollout) Answer {
	bound := e.bound(s)
	switch {
	case r.Returns != checkpoint.SideFrom:
		return Open("", "the manifest decides, and gitlatch does not read it", "compare the manifest with the entry")
	case !r.ImagesOnly:
		return Refutes("", "the templates differ in more than their images, so a rebuild creates the manifest's template", "")
	case !bytes.Contains(e.Admission, []byte(imagesVariable)):
		return Refutes("", "the admission policy does not replace images, so a rebuild creates the manifest's template", "set \"admission: {images: true}\" in "+e.Policy+", and run \"gitlatch init\"")
	case !bound.Yes():
		return bound
	}
	for _, one := range []Answer{e.applied(s), e.first(s), e.created(s)} {
		if !one.Yes() {
			return one
		}
	}
	return bound
}
