package report

import (
	"bytes"
	"encoding/json"
	stdlog "log"

	"github.com/rs/zerolog"
)

// TakeStandard redirects the standard logger to log. Lambda's runtime uses the standard
// logger for the error of an invocation and for the end of the process. The lines become
// errors in the common format.
func TakeStandard(log zerolog.Logger) {
	stdlog.SetFlags(0)
	stdlog.SetOutput(failures{log})
}

type failures struct{ log zerolog.Logger }

// Write logs one line. A line that is valid JSON is logged as JSON.
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
