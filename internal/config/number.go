package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"go.yaml.in/yaml/v3"
)

// A whole is a whole number. Its least is for editors; whoever owns the number
// judges it.
type whole struct {
	into  *int
	least int
}

func (w whole) read(r *reader, path string, n *yaml.Node) {
	if !r.scalar(path, n, "a whole number", "!!int") {
		return
	}
	var read int
	if err := n.Decode(&read); err != nil {
		r.report(path, "must be a whole number that fits 64 bits, got %s", n.Value)
		return
	}
	*w.into = read
}

func (w whole) schema() schema {
	s := schema{"type": "integer", "minimum": w.least}
	if *w.into != 0 {
		s["default"] = *w.into
	}
	return s
}

// A ratio is a finite number. Its least is for editors, as with whole.
type ratio struct {
	into  *float64
	least float64
}

func (v ratio) read(r *reader, path string, n *yaml.Node) {
	if !r.scalar(path, n, "a number", "!!int", "!!float") {
		return
	}
	var read float64
	if err := n.Decode(&read); err != nil || math.IsNaN(read) || math.IsInf(read, 0) {
		r.report(path, "must be a finite number, got %s", n.Value)
		return
	}
	*v.into = read
}

func (v ratio) schema() schema { return schema{"type": "number", "minimum": v.least} }

// A share is a part of a whole, from 0 to 1: "10%" or 0.1.
type share struct{ into *float64 }

const (
	wantShare    = `a share such as "10%" or 0.1`
	percentShape = `^[0-9]+(\.[0-9]+)?%$`
)

func (s share) read(r *reader, path string, n *yaml.Node) {
	if !r.scalar(path, n, wantShare, "!!int", "!!float", "!!str") {
		return
	}
	var read float64
	if n.ShortTag() == "!!str" {
		if !regexp.MustCompile(percentShape).MatchString(n.Value) {
			r.report(path, "must be %s, got %s", wantShare, got(n))
			return
		}
		read, _ = strconv.ParseFloat(strings.TrimSuffix(n.Value, "%"), 64)
		read /= 100
	} else if err := n.Decode(&read); err != nil {
		read = math.NaN()
	}
	switch {
	case read >= 0 && read <= 1:
		*s.into = read
	case read > 1 && read <= 100 && n.ShortTag() != "!!str":
		r.report(path, "must be %s, got %s: write \"%s%%\" if that is meant", wantShare, got(n), n.Value)
	default:
		r.report(path, "must be from 0 to 100 %%, got %s", got(n))
	}
}

func (s share) schema() schema {
	return schema{
		"anyOf": []any{
			schema{"type": "string", "pattern": `^(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%$`},
			schema{"type": "number", "minimum": 0, "maximum": 1},
		},
		"default": strconv.FormatFloat(math.Round(*s.into*1e6)/1e4, 'f', -1, 64) + "%",
	}
}

// A percent is a whole number from 1 to 99.
type percent struct{ into *int32 }

const wantPercent = "a whole number from 1 to 99, in percent"

func (v percent) read(r *reader, path string, n *yaml.Node) {
	if !r.scalar(path, n, wantPercent, "!!int") {
		return
	}
	var read int32
	if err := n.Decode(&read); err != nil || read < 1 || read > 99 {
		r.report(path, "must be %s, got %s", wantPercent, n.Value)
		return
	}
	*v.into = read
}

func (v percent) schema() schema { return schema{"type": "integer", "minimum": 1, "maximum": 99} }

// A percents is a list of them. Their order is for whoever owns it to judge.
type percents struct{ into *[]int32 }

func (v percents) read(r *reader, path string, n *yaml.Node) {
	if !r.of(path, n, yaml.SequenceNode, "a list of percentages") {
		return
	}
	read := make([]int32, len(n.Content))
	for i, item := range n.Content {
		percent{&read[i]}.read(r, index(path, i), item)
		r.failed[path] = r.failed[path] || r.failed[index(path, i)]
	}
	if !r.failed[path] {
		*v.into = read
	}
}

func (v percents) schema() schema {
	return schema{"type": "array", "minItems": 1, "uniqueItems": true, "items": percent{}.schema()}
}

// A span is a duration: as Go writes them, with days: "90s", "26h", "1d12h". A
// plain 0 needs no unit.
type span struct {
	into  *time.Duration
	least time.Duration // 0 leaves the judging to whoever owns the duration
}

const (
	wantSpan  = "a duration such as 5m, 26h or 8d"
	spanShape = `^([0-9]{1,5}d)?([0-9]+(\.[0-9]+)?(ms|s|m|h))*$`
)

var spanForm = regexp.MustCompile(spanShape)

func (s span) read(r *reader, path string, n *yaml.Node) {
	if !r.scalar(path, n, wantSpan, "!!str", "!!int") {
		return
	}
	read, ok := parseSpan(n.Value)
	switch {
	case !ok && n.ShortTag() == "!!int":
		r.report(path, "must be %s, got %s: say the unit", wantSpan, n.Value)
	case !ok:
		r.report(path, "must be %s, got %s", wantSpan, got(n))
	case read < s.least:
		r.report(path, "must be at least %s, got %s", s.least, n.Value)
	default:
		*s.into = read
	}
}

func parseSpan(text string) (time.Duration, bool) {
	if text == "0" {
		return 0, true
	}
	if text == "" || !spanForm.MatchString(text) {
		return 0, false
	}
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "0", text
	}
	count, err := strconv.Atoi(days)
	if rest == "" {
		rest = "0s"
	}
	clock, err2 := time.ParseDuration(rest)
	whole := time.Duration(count) * 24 * time.Hour
	return whole + clock, err == nil && err2 == nil && whole+clock >= whole
}

func (s span) schema() schema {
	out := schema{"anyOf": []any{
		schema{"type": "string", "minLength": 1, "pattern": spanShape},
		schema{"const": 0},
	}}
	if *s.into != 0 {
		out["default"] = s.into.String()
	}
	return out
}

// A series is one by name, or a list of levels.
type series struct{ into *policy.Series }

func (s series) read(r *reader, path string, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		want := "one of " + strings.Join(policy.SeriesNames(), ", ") + ", or a list of levels"
		if !r.scalar(path, n, want, "!!str") {
			return
		}
		found, err := policy.ParseSeries(n.Value)
		if err != nil {
			r.report(path, "must be %s, got %s", want, got(n))
			return
		}
		*s.into = found
		return
	}
	r.at(path, n.Line)
	levels := make([]int32, len(n.Content))
	whole := true
	for i, item := range n.Content {
		at := index(path, i)
		if r.scalar(at, item, "a whole number of pods", "!!int") && item.Decode(&levels[i]) != nil {
			r.report(at, "must be at most %d pods, got %s", math.MaxInt32, item.Value)
		}
		whole = whole && !r.failed[at]
	}
	if !whole {
		r.failed[path] = true
		return
	}
	found, err := policy.ListSeries(levels)
	if err != nil {
		r.report(path, "%s", err)
		return
	}
	*s.into = found
}

func (s series) schema() schema {
	return schema{"oneOf": []any{
		schema{"enum": policy.SeriesNames()},
		schema{
			"type": "array", "minItems": 1, "uniqueItems": true,
			"items": schema{"type": "integer", "minimum": 1, "maximum": math.MaxInt32},
		},
	}}
}
