package checkpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The keys of a rollout. After suffixFrom or suffixTo and an underscore a
// container can be named: that key is its image.
const (
	suffixMilestone = "_milestone"
	suffixPhase     = "_phase"
	suffixFrom      = "_from"
	suffixTo        = "_to"
	suffixReturns   = "_returns"
	suffixDiffer    = "_differ"
	// suffixShare stands in records of earlier versions: how far the rollout had got,
	// where that was beyond the milestone. It is read as the milestone, and not written.
	suffixShare = "_share"
)

// rolloutSuffixes are those that stand together: where one stands, all do.
var rolloutSuffixes = []string{suffixMilestone, suffixPhase, suffixFrom, suffixTo, suffixReturns, suffixDiffer}

const (
	differImages = "images"
	differMore   = "more"
)

// Phases are the phases of a rollout, for those who list them.
func Phases() []Phase {
	return []Phase{PhaseProgressing, PhaseHalted, PhaseFailed, PhaseReturning}
}

// A fact is one line of the record.
type fact struct{ suffix, value string }

// facts are the lines of a rollout, in the order in which they are written;
// none of the zero value.
func (r Rollout) facts() []fact {
	if r == (Rollout{}) {
		return nil
	}
	facts := []fact{{suffixMilestone, strconv.Itoa(int(r.Milestone))}, {suffixPhase, string(r.Phase)}}
	facts = append(facts, r.From.facts(suffixFrom)...)
	facts = append(facts, r.To.facts(suffixTo)...)
	differ := differMore
	if r.ImagesOnly {
		differ = differImages
	}
	return append(facts, fact{suffixReturns, string(r.Returns)}, fact{suffixDiffer, differ})
}

func (t Template) facts(suffix string) []fact {
	facts := []fact{{suffix, t.Hash}}
	for pair := range strings.FieldsSeq(string(t.Images)) {
		container, image, _ := strings.Cut(pair, "=")
		facts = append(facts, fact{suffix + "_" + container, image})
	}
	return facts
}

// What the texts of a rollout may be. They come from a cluster, or from a
// person: no spaces, nothing that a quoted line of YAML would read otherwise.
var (
	hashForm  = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,251}[A-Za-z0-9])?$`)
	imageForm = regexp.MustCompile(`^[!#-\[\]-~]{1,512}$`) // what is seen of ASCII, but " and \
)

const (
	wantHash  = "the hash of a pod template: letters, digits, -, _ and ., at most 253"
	wantImage = "the image of a container: at most 512 visible ASCII characters, no spaces, no quotes"
)

// FitsRollout says why a record cannot hold a rollout of the workload; nil
// where it can. The zero value, which is no rollout, always fits.
func FitsRollout(id workload.ID, r Rollout) error {
	if r == (Rollout{}) {
		return nil
	}
	switch {
	case r.Milestone < 0 || r.Milestone > 99:
		return fmt.Errorf("workload %q: milestone must be 0 to 99, got %d", id, r.Milestone)
	case !slices.Contains(Phases(), r.Phase):
		return fmt.Errorf("workload %q: phase must be one of %s, got %q", id, phaseNames(), r.Phase)
	case r.Returns != SideFrom && r.Returns != SideTo:
		return fmt.Errorf("workload %q: returns must be from or to, got %q", id, r.Returns)
	}
	for _, t := range []Template{r.From, r.To} {
		if err := t.valid(); err != nil {
			return fmt.Errorf("workload %q: %w", id, err)
		}
	}
	if r.From.Hash == r.To.Hash {
		return fmt.Errorf("workload %q: both templates are %s", id, r.To.Hash)
	}
	for _, f := range r.facts() {
		if err := fitsKey(id, f.suffix); err != nil {
			return err
		}
	}
	return nil
}

// valid says why a template cannot be written.
func (t Template) valid() error {
	if !hashForm.MatchString(t.Hash) {
		return fmt.Errorf("template %q: must be %s", t.Hash, wantHash)
	}
	by := t.Images.By()
	for container, image := range by {
		if !workload.ValidLabel(container) {
			return fmt.Errorf("template %s: name of container %q must be a DNS label", t.Hash, container)
		}
		if !imageForm.MatchString(image) {
			return fmt.Errorf("template %s: container %s: image %q must be %s", t.Hash, container, image, wantImage)
		}
	}
	if ImagesOf(by) != t.Images {
		return fmt.Errorf("template %s: images %q must be container=image, by container, with a space between", t.Hash, t.Images)
	}
	return nil
}

// rolloutSuffix reports whether a suffix is one of a rollout.
func rolloutSuffix(suffix string) bool {
	if suffix == suffixShare || slices.Contains(rolloutSuffixes, suffix) {
		return true
	}
	_, container, ok := imageSuffix(suffix)
	return ok && workload.ValidLabel(container)
}

// imageSuffix takes the suffix of an image apart.
func imageSuffix(suffix string) (side, container string, ok bool) {
	for _, side := range []string{suffixFrom, suffixTo} {
		if container, ok := strings.CutPrefix(suffix, side+"_"); ok {
			return side, container, true
		}
	}
	return "", "", false
}

// read takes one line of a rollout.
func (r *Rollout) read(data *fields, k, suffix string) {
	switch suffix {
	case suffixMilestone, suffixShare:
		r.Milestone = max(r.Milestone, data.percent(k))
	case suffixPhase:
		r.Phase = oneOf(data, k, Phases()...)
	case suffixFrom:
		r.From.Hash = data.matching(k, hashForm, wantHash)
	case suffixTo:
		r.To.Hash = data.matching(k, hashForm, wantHash)
	case suffixReturns:
		r.Returns = oneOf(data, k, SideFrom, SideTo)
	case suffixDiffer:
		r.ImagesOnly = oneOf(data, k, differImages, differMore) == differImages
	default:
		side, container, _ := imageSuffix(suffix)
		of := &r.From
		if side == suffixTo {
			of = &r.To
		}
		if image := data.matching(k, imageForm, wantImage); image != "" {
			by := of.Images.By()
			by[container] = image
			of.Images = ImagesOf(by)
		}
	}
}

// wholeRollout refuses a rollout of which a part is missing, or whose templates
// are one.
func wholeRollout(data *fields, id workload.ID) {
	stands := ""
	for _, k := range data.keys {
		if suffix, ok := strings.CutPrefix(k, key(id, "")); ok && stands == "" && rolloutSuffix(suffix) {
			stands = k
		}
	}
	if stands == "" {
		return
	}
	for _, suffix := range rolloutSuffixes {
		if k := key(id, suffix); !data.has(k) {
			data.refuse(k, "is missing, and %s stands: add it, or remove all lines of the rollout", stands)
		}
	}
	from, to := data.value[key(id, suffixFrom)], data.value[key(id, suffixTo)]
	if from != nil && to != nil && from.Value == to.Value {
		data.refuse(key(id, suffixTo), "must be another template than %s", key(id, suffixFrom))
	}
}

var percent = regexp.MustCompile(`^(0|[1-9][0-9]?)$`)

// percent returns the number at a key, from 0 to 99, and notes where it is none.
func (f *fields) percent(key string) int32 {
	n := f.get(key)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!int" || !percent.MatchString(n.Value) {
		f.refuse(key, "must be a whole number from 0 to 99, got %s", describe(n))
		return 0
	}
	v, _ := strconv.Atoi(n.Value)
	return int32(v)
}

// matching returns the text at a key where it is of a form, and notes where it
// is not. A hash of digits alone may stand without quotes.
func (f *fields) matching(key string, form *regexp.Regexp, want string) string {
	n := f.get(key)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || !form.MatchString(n.Value) {
		f.refuse(key, "must be %s, got %s", want, describe(n))
		return ""
	}
	return n.Value
}

// oneOf returns the word at a key, and notes where it is none of those.
func oneOf[S ~string](f *fields, key string, of ...S) S {
	n := f.get(key)
	if n.Kind == yaml.ScalarNode && slices.Contains(of, S(n.Value)) {
		return S(n.Value)
	}
	names := make([]string, len(of))
	for i, o := range of {
		names[i] = string(o)
	}
	f.refuse(key, "must be one of %s, got %s", strings.Join(names, ", "), describe(n))
	return ""
}

func phaseNames() string {
	names := make([]string, 0, len(Phases()))
	for _, p := range Phases() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}
