package read

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gitlatch/gitlatch/internal/backtest"
)

// A document is JSON while it is read, value by value.
type document struct {
	name string
	json *json.Decoder
	past *backtest.Past
	// found is set once something of a known form was read.
	found bool
	// status, failed and kind are what Prometheus says of a query that failed.
	status, failed, kind string
}

func readJSON(name string, from io.Reader, into *backtest.Past) error {
	d := &document{name: name, json: json.NewDecoder(from), past: into}
	d.json.UseNumber()
	for {
		d.found, d.status, d.failed, d.kind = false, "", "", ""
		err := d.object("", map[string]func(string) error{
			"status":            d.into(&d.status, "a string"),
			"error":             d.into(&d.failed, "a string"),
			"errorType":         d.into(&d.kind, "a string"),
			"data":              d.prometheus,
			"MetricDataResults": d.cloudWatch,
		})
		switch {
		case errors.Is(err, errEnd):
			return nil
		case err != nil:
			return err
		case d.status != "" && d.status != "success":
			said := cmp.Or(d.failed, d.kind)
			if said != "" {
				said = ", since " + said
			}
			return d.wrong("status", "is %q: Prometheus did not answer the query%s; fix it, and fetch the answer again", d.status, said)
		case !d.found:
			return d.wrong("", "must hold data.result, as Prometheus answers query_range, or MetricDataResults, as CloudWatch answers GetMetricData")
		}
	}
}

// errEnd is that there is no further document.
var errEnd = errors.New("end of the documents")

// wrong is an error about a field, at the place that was read up to.
func (d *document) wrong(path, format string, args ...any) error {
	path = cmp.Or(strings.TrimSpace(path), "the document")
	return fmt.Errorf("%s: %s, before byte %d: %s", d.name, path, d.json.InputOffset(), fmt.Sprintf(format, args...))
}

// token returns the next token.
func (d *document) token(path string) (json.Token, error) {
	token, err := d.json.Token()
	return token, d.broken(path, err)
}

// into reads the next value, whole, into a variable; must is what it has to be.
func (d *document) into(v any, must string) func(path string) error {
	return func(path string) error {
		err := d.json.Decode(v)
		var other *json.UnmarshalTypeError
		if errors.As(err, &other) {
			return d.wrong(path, "must be %s", must)
		}
		return d.broken(path, err)
	}
}

// broken says where JSON is not JSON, or cannot be read; nil where it is.
func (d *document) broken(path string, err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) && path == "":
		return errEnd
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return d.wrong(path, "the file ends in the middle: fetch it again")
	case errors.As(err, &syntax):
		return d.wrong(path, "is no JSON: %v", err)
	}
	return unread(d.name, err)
}

// object reads an object, each of its fields by the function of its name;
// fields without one are passed over.
func (d *document) object(path string, fields map[string]func(path string) error) error {
	if err := d.open(path, '{', "an object"); err != nil {
		return err
	}
	for d.json.More() {
		token, err := d.token(path + " ")
		if err != nil {
			return err
		}
		name, _ := token.(string) // a key is a string
		below := name
		if path != "" {
			below = path + "." + name
		}
		read := fields[name]
		if read == nil {
			read = d.into(&json.RawMessage{}, "any value")
		}
		if err := read(below); err != nil {
			return err
		}
	}
	_, err := d.token(path + " ")
	return err
}

// list reads a list, each of its elements by the function.
func (d *document) list(path string, read func(path string, i int) error) error {
	if err := d.open(path, '[', "a list"); err != nil {
		return err
	}
	for i := 0; d.json.More(); i++ {
		if err := read(path, i); err != nil {
			return err
		}
	}
	_, err := d.token(path + " ")
	return err
}

func (d *document) open(path string, want json.Delim, what string) error {
	token, err := d.token(path)
	if err != nil {
		return err
	}
	if token != want {
		return d.wrong(path, "must be %s", what)
	}
	return nil
}

// texts are numbers or strings, as text.
func (d *document) texts(path string, values []any) ([]string, error) {
	all := make([]string, len(values))
	for i, value := range values {
		switch v := value.(type) {
		case json.Number:
			all[i] = v.String()
		case string:
			all[i] = v
		default:
			return nil, d.wrong(path, "must be a number or a string")
		}
	}
	return all, nil
}
