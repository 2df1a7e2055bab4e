package report

import (
	"bytes"
	"encoding/json"
	stdlog "log"

	"github.com/rs/zerolog"
)

// TakeStandard has a logger take the lines of the standard one, by which
// Lambda's runtime writes the error that it answers an event with, and the end of
// the process. They get the shape of all others, as errors.
func TakeStandard(log zerolog.Logger) {
	stdlog.SetFlags(0)
	stdlog.SetOutput(failures{log})
}

type failures struct{ log zerolog.Logger }

// Write writes one line, whose answer is JSON where it can be.
func (f failures) Write(text []byte) (int, error) {
	line, said := f.log.Error(), bytes.TrimSpace(text)
	if json.Valid(said) {
		line = line.RawJSON("answer", said)
	} else {
		line = line.Bytes("answer", said)
	}
	line.Msg("failed")
	return len(text), nil
}
