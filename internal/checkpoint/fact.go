package checkpoint

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// The keys of an entry: kind "." name is the level, and the suffixes are its other facts.
// Names contain no underscore, and names of containers no dot either, so that a key is
// never ambiguous. suffixFrom or suffixTo, an underscore and the name of a container are
// the key of the container's image.
const (
	suffixMax = "_max"
	suffixMin = "_min"

	suffixMilestone = "_milestone"
	suffixPhase     = "_phase"
	suffixFrom      = "_from"
	suffixTo        = "_to"
	suffixReturns   = "_returns"
	suffixDiffer    = "_differ"
)

// The suffixes, in the order of the file. If one suffix of a rollout is present, all of
// them must be.
var scaleSuffixes = []string{"", suffixMax, suffixMin}
var rolloutSuffixes = []string{suffixMilestone, suffixPhase, suffixFrom, suffixTo, suffixReturns, suffixDiffer}

// MaxReplicas is the maximum level in pods, which is also the maximum that the admission
// policy accepts.
const MaxReplicas = 999_999

// Phases returns the phases of a rollout.
func Phases() []Phase {
	return []Phase{PhaseProgressing, PhaseHalted, PhaseFailed, PhaseReturning}
}

// differs maps Rollout.ImagesOnly to its value in the file.
var differs = map[bool]string{true: "images", false: "more"}

// The formats of facts. Texts come from a cluster or a user, so they contain no spaces
// and no character with a special meaning in a quoted line of YAML. A ConfigMap has
// numbers in quotes, and users write them without.
var (
	level   = yamldoc.Text(`^[1-9][0-9]{0,5}$`, "an integer from 1 to 999999").Bare()
	pods    = yamldoc.Text(`^[1-9][0-9]*$`, "an integer of at least 1").Bare()
	percent = yamldoc.Text(`^(0|[1-9][0-9]?)$`, "an integer from 0 to 99").Bare()
	phase   = yamldoc.Word(Phases()...).Bare()
	hash    = yamldoc.Text(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`, "the hash of a pod template: letters, digits, -, _ and ., at most 253").AtMost(253).Bare()
	image   = yamldoc.Text(`^[!#-\[\]-~]+$`, "the image of a container: at most 512 visible ASCII characters, no spaces, no quotes").AtMost(512).Bare()
	side    = yamldoc.Word(SideFrom, SideTo).Bare()
	differ  = yamldoc.Word(differs[true], differs[false]).Bare()
)

// fact binds the fact of a suffix to the entry; ok is false if the suffix is unknown.
func (e *Entry) fact(suffix string) (fact yamldoc.Scalar, ok bool) {
	r := &e.Rollout
	switch suffix {
	case "":
		return number(&e.Replicas, level), true
	case suffixMax:
		return number(&e.Max, pods), true
	case suffixMin:
		return number(&e.Min, pods), true
	case suffixMilestone:
		return number(&r.Milestone, percent), true
	case suffixPhase:
		return yamldoc.Into(&r.Phase, phase), true
	case suffixFrom, suffixTo:
		return yamldoc.Into(&e.template(suffix).Hash, hash), true
	case suffixReturns:
		return yamldoc.Into(&r.Returns, side), true
	case suffixDiffer:
		isImages := func(text string) (bool, error) { return text == differs[true], nil }
		return yamldoc.Parsed(&r.ImagesOnly, differ, differs[r.ImagesOnly], isImages), true
	}
	if i := strings.LastIndexByte(suffix, '_'); i > 0 {
		if t := e.template(suffix[:i]); t != nil {
			return t.image(suffix[i+1:]), workload.ValidLabel(suffix[i+1:])
		}
	}
	return yamldoc.Scalar{}, false
}

// template returns the template of one side of the rollout; nil for another suffix.
func (e *Entry) template(suffix string) *Template {
	return map[string]*Template{suffixFrom: &e.Rollout.From, suffixTo: &e.Rollout.To}[suffix]
}

// number binds a number that fits into an int32.
func number[N int | int32](into *N, form yamldoc.Form) yamldoc.Scalar {
	return yamldoc.Parsed(into, form, strconv.Itoa(int(*into)), func(text string) (N, error) {
		read, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("must be at most %d, got %s", math.MaxInt32, text)
		}
		return N(read), nil
	})
}

// image binds the image of a container.
func (t *Template) image(container string) yamldoc.Scalar {
	by := t.Images.By()
	fact := yamldoc.Taken(image, func(text string) {
		by[container] = text
		t.Images = ImagesOf(by)
	})
	fact.Holds = by[container]
	return fact
}

// suffixes returns the suffixes of the entry's facts, in the order of the file.
func (e Entry) suffixes() []string {
	var all []string
	for i, pods := range []int32{e.Replicas, e.Max, e.Min} {
		if pods != 0 {
			all = append(all, scaleSuffixes[i])
		}
	}
	if e.Rollout == (Rollout{}) {
		return all
	}
	for _, suffix := range rolloutSuffixes {
		all = append(all, suffix)
		if t := e.template(suffix); t != nil {
			for pair := range strings.FieldsSeq(string(t.Images)) {
				container, _, _ := strings.Cut(pair, "=")
				all = append(all, suffix+"_"+container)
			}
		}
	}
	return all
}
