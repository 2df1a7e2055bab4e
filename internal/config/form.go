package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/strict"
)

type schema = strict.Schema

var (
	anyText = strict.Text("", "text")
	aFile   = strict.Text("", "the path of a file")
	truth   = strict.Form{Must: "true or false", Tags: []string{"!!bool"}, Pattern: strict.Like("(?i)^(true|false)$"), Schema: schema{"type": "boolean"}}

	// Upper case only: few secrets that are written here by mistake match this.
	variable = strict.Text(`^[A-Z_][A-Z0-9_]*$`, "the name of an environment variable, in upper case, not the secret itself").Hide()
)

// file binds the path of a file on the machine on which gitlatch runs. A relative path is
// relative to the folder of the document. ~/ is the user's home.
func file(into *string) strict.Scalar {
	s := strict.Parsed(into, aFile, "", func(text string) (string, error) {
		if !strings.HasPrefix(text, "~") {
			return text, nil
		}
		home, err := os.UserHomeDir()
		if err != nil || !strings.HasPrefix(text, "~/") {
			return "", fmt.Errorf("must be a path without ~ here, got %s. Write the full path", strict.Quote(text))
		}
		return filepath.Join(home, text[2:]), nil
	})
	s.Path = into
	return s
}

func yes(into *bool) strict.Scalar {
	return strict.Parsed(into, truth, strconv.FormatBool(*into), strconv.ParseBool)
}

// whole binds a whole number. The schema requires at least 1. The reader does not: the
// package that uses the number checks it.
func whole(into *int) strict.Scalar {
	return integer(into, "an integer", math.MinInt64, math.MaxInt64, schema{"minimum": 1})
}

func percent(into *int32) strict.Scalar {
	return integer(into, "an integer from 1 to 99, in percent", 1, 99, schema{"minimum": 1, "maximum": 99})
}

func integer[I int | int32](into *I, must string, least, most int64, bounds schema) strict.Scalar {
	bounds["type"] = "integer"
	holds := ""
	if *into != 0 {
		holds = fmt.Sprint(*into)
	}
	return strict.Parsed(into, strict.Form{Must: must, Tags: []string{"!!int"}, Schema: bounds}, holds, func(text string) (I, error) {
		read, err := strconv.ParseInt(text, 0, 64)
		switch {
		case err != nil:
			return 0, fmt.Errorf("must be a 64-bit integer, got %s", text)
		case read < least || read > most:
			return 0, strict.ErrForm
		}
		return I(read), nil
	})
}

// ratio binds a finite number. As for whole, only the schema requires at least 1.
func ratio(into *float64) strict.Scalar {
	form := strict.Form{Must: "a number", Tags: []string{"!!int", "!!float"}, Schema: schema{"type": "number", "minimum": 1}}
	return strict.Parsed(into, form, strconv.FormatFloat(*into, 'f', -1, 64), func(text string) (float64, error) {
		read, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(read) || math.IsInf(read, 0) {
			return 0, fmt.Errorf("must be a finite number, got %s", text)
		}
		return read, nil
	})
}

var part = strict.Form{Must: grammar.MustShare, Tags: []string{"!!int", "!!float", "!!str"}, Schema: schema{"anyOf": []any{
	schema{"type": "string", "pattern": `^(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%$`},
	schema{"type": "number", "minimum": 0, "maximum": 1},
}}}

// share binds a share from 0 to 1: 10% or 0.1.
func share(into *float64) strict.Scalar {
	return strict.Parsed(into, part, grammar.FormatShare(*into), grammar.ParseShare)
}

var aSpan = strict.Form{
	Must: grammar.MustSpan, Tags: []string{"!!str", "!!int"}, Pattern: strict.Like(grammar.SpanShape + "|^[0-9]+$"),
	Schema: schema{"anyOf": []any{schema{"type": "string", "minLength": 1, "pattern": grammar.SpanShape}, schema{"const": 0}}},
}

// span binds a duration. If least is 0, the package that uses it checks it.
func span(into *time.Duration, least time.Duration) strict.Scalar {
	return strict.Parsed(into, aSpan, policy.Span(*into), func(text string) (time.Duration, error) {
		read, err := grammar.ParseSpan(text)
		if err == nil && read < least {
			err = fmt.Errorf("must be at least %s, got %s", least, text)
		}
		return read, err
	})
}
