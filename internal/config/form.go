package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

type schema = yamldoc.Schema

var (
	anyText = yamldoc.Text("", "text")
	aFile   = yamldoc.Text("", "the path of a file")
	truth   = yamldoc.Form{Must: "true or false", Tags: []string{"!!bool"}, Pattern: yamldoc.Like("(?i)^(true|false)$"), Schema: schema{"type": "boolean"}}
)

// file binds the path of a file on the machine on which gitlatch runs. A relative path is
// relative to the folder of the document. ~/ is the user's home.
func file(into *string) yamldoc.Scalar {
	s := yamldoc.Parsed(into, aFile, "", func(text string) (string, error) {
		if !strings.HasPrefix(text, "~") {
			return text, nil
		}
		home, err := os.UserHomeDir()
		if err != nil || !strings.HasPrefix(text, "~/") {
			return "", fmt.Errorf("must be a path without ~ here, got %s. Write the full path", yamldoc.Quote(text))
		}
		return filepath.Join(home, text[2:]), nil
	})
	s.Path = into
	return s
}

func yes(into *bool) yamldoc.Scalar {
	return yamldoc.Parsed(into, truth, strconv.FormatBool(*into), strconv.ParseBool)
}

// whole binds a whole number. The schema requires at least 1. The reader does not: the
// package that uses the number checks it.
func whole(into *int) yamldoc.Scalar {
	return integer(into, "an integer", math.MinInt64, math.MaxInt64, schema{"minimum": 1})
}

func percent(into *int32) yamldoc.Scalar {
	return integer(into, "an integer from 1 to 99, in percent", 1, 99, schema{"minimum": 1, "maximum": 99})
}

func integer[I int | int32](into *I, must string, least, most int64, bounds schema) yamldoc.Scalar {
	bounds["type"] = "integer"
	holds := ""
	if *into != 0 {
		holds = fmt.Sprint(*into)
	}
	return yamldoc.Parsed(into, yamldoc.Form{Must: must, Tags: []string{"!!int"}, Schema: bounds}, holds, func(text string) (I, error) {
		read, err := strconv.ParseInt(text, 0, 64)
		switch {
		case err != nil:
			return 0, fmt.Errorf("must be a 64-bit integer, got %s", text)
		case read < least || read > most:
			return 0, yamldoc.ErrForm
		}
		return I(read), nil
	})
}

var part = yamldoc.Form{Must: units.MustShare, Tags: []string{"!!int", "!!float", "!!str"}, Schema: schema{"anyOf": []any{
	schema{"type": "string", "pattern": `^(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%$`},
	schema{"type": "number", "minimum": 0, "maximum": 1},
}}}

// share binds a share from 0 to 1: 10% or 0.1.
func share(into *float64) yamldoc.Scalar {
	return yamldoc.Parsed(into, part, units.FormatShare(*into), units.ParseShare)
}

var aSpan = yamldoc.Form{
	Must: units.MustSpan, Tags: []string{"!!str", "!!int"}, Pattern: yamldoc.Like(units.SpanShape + "|^[0-9]+$"),
	Schema: schema{"anyOf": []any{schema{"type": "string", "minLength": 1, "pattern": units.SpanShape}, schema{"const": 0}}},
}

// span binds a duration. If least is 0, the package that uses it checks it.
func span(into *time.Duration, least time.Duration) yamldoc.Scalar {
	return yamldoc.Parsed(into, aSpan, policy.Span(*into), func(text string) (time.Duration, error) {
		read, err := units.ParseSpan(text)
		if err == nil && read < least {
			err = fmt.Errorf("must be at least %s, got %s", least, text)
		}
		return read, err
	})
}
