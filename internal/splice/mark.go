package splice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const wantMark = `{"` + sign + `": "<namespace>/<kind>/<name>"}`

// parseMark parses the text of a comment with a sign. The comment must be a marker and
// nothing else: gitlatch refuses a comment that is almost a marker. The ID is the named
// workload, also with an error if the marker names one.
func parseMark(comment string) (workload.ID, error) {
	text := strings.TrimSpace(strings.TrimLeft(comment, "#"))
	if !strings.HasPrefix(text, "{") {
		return workload.ID{}, fmt.Errorf("the comment must be %s only, got %s. Move the rest to a line above", wantMark, got(text))
	}
	fields := json.NewDecoder(strings.NewReader(text))
	var named string
	for open := true; open; {
		switch token, err := fields.Token(); {
		case err != nil:
			return workload.ID{}, fmt.Errorf("the marker is not JSON, %s. Write %s", cause(err), wantMark)
		case token == json.Delim('{'):
		case token == json.Delim('}'):
			open = false
		case token != sign:
			return workload.ID{}, fmt.Errorf("the marker has an unknown field %s. Write %s", got(fmt.Sprint(token)), wantMark)
		case named != "":
			return workload.ID{}, fmt.Errorf("the marker names two workloads, but several markers may name the same workload. Keep one workload in each marker")
		default:
			if err := fields.Decode(&named); err != nil || named == "" {
				return workload.ID{}, fmt.Errorf("the marker must name a workload in quotes. Write %s", wantMark)
			}
		}
	}
	if _, err := fields.Token(); !errors.Is(err, io.EOF) {
		return workload.ID{}, fmt.Errorf("text follows the marker. Move it to a line above")
	}
	return parseID(named)
}

// cause returns a short reason why a marker is not JSON.
func cause(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too soon"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// parseID returns the workload that a marker names.
func parseID(named string) (workload.ID, error) {
	id, err := workload.ParseID(named)
	if err != nil {
		if lower := strings.ToLower(named); lower != named {
			if meant, err := parseID(lower); err == nil {
				return meant, fmt.Errorf("the marker names %s. Names and kinds are in lower case. Write %s", named, meant)
			}
		}
		return workload.ID{}, fmt.Errorf("the marker names no workload, %w", err)
	}
	return id, nil
}

// counted returns an error if a marker's kind has no replicas.
func counted(kind workload.Kind, kinds workload.Kinds) error {
	if _, known := kinds.Object(kind); known && kind.Scales() {
		return nil
	}
	scaled := slices.DeleteFunc(kinds.All(), func(k workload.Kind) bool { return !k.Scales() })
	return fmt.Errorf("the marker's kind must be one of %s, got %s", strings.Join(lists.Map(scaled, workload.Kind.String), ", "), kind)
}
