// Command drill is the Lambda that declares what is needed now, and says what a
// rebuild from git would give.
package main

import (
	"bytes"
	"encoding/json"
	stdlog "log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/report"
)

func main() {
	log := report.NewLogger(os.Stdout, time.Now)
	stdlog.SetFlags(0)
	stdlog.SetOutput(failures{log})
	h, err := newHandler(os.Getenv, time.Now, log, os.Stdout)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	lambda.Start(h.handle)
}

// failures takes the lines that the runtime writes by the standard logger: the
// error that it answers an event with, and the end of the process.
type failures struct{ log zerolog.Logger }

// Write writes one line in the shape of all others.
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
