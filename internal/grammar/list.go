package grammar

import (
	"strings"
	"time"
)

// A List is the value of a flag that takes several, comma-separated. Given again,
// the flag adds to them.
type List[T any] struct {
	into  *[]T
	parse func(string) (T, error)
	kind  string
	texts []string
}

// Spans binds a list of spans to a variable.
func Spans(into *[]time.Duration) *List[time.Duration] {
	return &List[time.Duration]{into: into, parse: ParseSpan, kind: "durations"}
}

// Shares binds a list of shares to a variable.
func Shares(into *[]float64) *List[float64] {
	return &List[float64]{into: into, parse: ParseShare, kind: "shares"}
}

// Set reads some of the list.
func (l *List[T]) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		read, err := l.parse(one)
		if err != nil {
			return err
		}
		*l.into, l.texts = append(*l.into, read), append(l.texts, one)
	}
	return nil
}

// String is the list as it was read.
func (l *List[T]) String() string { return strings.Join(l.texts, ",") }

// Type is what help calls the value.
func (l *List[T]) Type() string { return l.kind }
