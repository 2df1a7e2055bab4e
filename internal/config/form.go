package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/config/strict"
	"github.com/gitlatch/gitlatch/internal/policy"
)

type schema = strict.Schema

var (
	anyText = strict.Text("", "text")
	aFile   = strict.Text("", "the path of a file")
	truth   = strict.Form{Must: "true or false", Tags: []string{"!!bool"}, Schema: schema{"type": "boolean"}}

	// Upper case only, so that few secrets written in place of a name could pass.
	variable = strict.Text(`^[A-Z_][A-Z0-9_]*$`, "the name of an environment variable, in upper case; the secret itself never stands in this file").Hide()
)

// file binds the path of a file on the machine that gitlatch runs on. Relative is
// to the working directory; ~/ is the user's home.
func file(into *string) strict.Scalar {
	return strict.Scalar{Form: aFile, Take: func(text string) error {
		*into = text
		if !strings.HasPrefix(text, "~") {
			return nil
		}
		home, err := os.UserHomeDir()
		if err != nil || !strings.HasPrefix(text, "~/") {
			return fmt.Errorf("must be a path without ~ here, got %s: write it out", strict.Quote(text))
		}
		*into = filepath.Join(home, text[2:])
		return nil
	}}
}

func yes(into *bool) strict.Scalar {
	return strict.Scalar{Form: truth, Holds: strconv.FormatBool(*into), Take: func(text string) error {
		*into = strings.EqualFold(text, "true")
		return nil
	}}
}

// whole binds a whole number. That it is at least 1 is for editors to say; whoever
// owns the number judges it.
func whole(into *int) strict.Scalar {
	return integer(into, "a whole number", math.MinInt64, math.MaxInt64, schema{"minimum": 1})
}

func percent(into *int32) strict.Scalar {
	return integer(into, "a whole number from 1 to 99, in percent", 1, 99, schema{"minimum": 1, "maximum": 99})
}

func integer[I int | int32](into *I, must string, least, most int64, bounds schema) strict.Scalar {
	bounds["type"] = "integer"
	s := strict.Scalar{Form: strict.Form{Must: must, Tags: []string{"!!int"}, Schema: bounds}}
	if *into != 0 {
		s.Holds = fmt.Sprint(*into)
	}
	s.Take = func(text string) error {
		read, err := strconv.ParseInt(text, 0, 64)
		switch {
		case err != nil:
			return fmt.Errorf("must be a whole number that fits 64 bits, got %s", text)
		case read < least || read > most:
			return strict.ErrForm
		}
		*into = I(read)
		return nil
	}
	return s
}

// ratio binds a finite number. Its least is for editors, as with whole.
func ratio(into *float64) strict.Scalar {
	form := strict.Form{Must: "a number", Tags: []string{"!!int", "!!float"}, Schema: schema{"type": "number", "minimum": 1}}
	return strict.Scalar{Form: form, Holds: strconv.FormatFloat(*into, 'f', -1, 64), Take: func(text string) error {
		read, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(read) || math.IsInf(read, 0) {
			return fmt.Errorf("must be a finite number, got %s", text)
		}
		*into = read
		return nil
	}}
}

var part = strict.Form{Must: `a share such as "10%" or 0.1`, Tags: []string{"!!int", "!!float", "!!str"}, Schema: schema{"anyOf": []any{
	schema{"type": "string", "pattern": `^(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%$`},
	schema{"type": "number", "minimum": 0, "maximum": 1},
}}}

// share binds a part of a whole, from 0 to 1: "10%" or 0.1.
func share(into *float64) strict.Scalar {
	holds := strconv.FormatFloat(math.Round(*into*1e6)/1e4, 'f', -1, 64) + "%"
	return strict.Scalar{Form: part, Holds: holds, Take: func(text string) error {
		number, percent := strings.CutSuffix(text, "%")
		read, err := strconv.ParseFloat(number, 64)
		if percent {
			read /= 100
		}
		switch {
		case err != nil || math.IsNaN(read):
			return strict.ErrForm
		case read > 1 && read <= 100 && !percent:
			return fmt.Errorf("must be %s, got %s: write \"%s%%\" if that is meant", part.Must, text, text)
		case read < 0 || read > 1:
			return fmt.Errorf("must be from 0 to 100 %%, got %s", text)
		}
		*into = read
		return nil
	}}
}

const spanShape = `^([0-9]{1,5}d)?([0-9]+(\.[0-9]+)?(ms|s|m|h))*$`

// span binds a duration: as Go writes them, with days: "90s", "26h", "1d12h". A
// plain 0 needs no unit. Without a least, whoever owns the duration judges it.
func span(into *time.Duration, least time.Duration) strict.Scalar {
	form := strict.Text(spanShape+"|^[0-9]+$", "a duration such as 5m, 26h or 8d")
	form.Tags = []string{"!!str", "!!int"}
	form.Schema = schema{"anyOf": []any{schema{"type": "string", "minLength": 1, "pattern": spanShape}, schema{"const": 0}}}
	s := strict.Scalar{Form: form, Take: func(text string) error {
		read, err := parseSpan(text)
		switch {
		case err != nil:
			return err
		case read < least:
			return fmt.Errorf("must be at least %s, got %s", least, text)
		}
		*into = read
		return nil
	}}
	if *into != 0 {
		s.Holds = policy.Span(*into)
	}
	return s
}

// parseSpan reads what has the shape of a span, or is a plain number.
func parseSpan(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	if number, err := strconv.Atoi(text); err == nil {
		return 0, fmt.Errorf("must be a duration such as 5m, 26h or 8d, got %d: say the unit", number)
	}
	days, clock, found := strings.Cut(text, "d")
	if !found {
		days, clock = "0", text
	}
	count, err := strconv.Atoi(days)
	rest, err2 := time.ParseDuration("0s" + clock)
	whole := time.Duration(count) * 24 * time.Hour
	if err != nil || err2 != nil || text == "" || whole+rest < whole {
		return 0, strict.ErrForm
	}
	return whole + rest, nil
}
