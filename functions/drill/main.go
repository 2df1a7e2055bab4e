// Command drill is the Lambda that declares what is needed now, and says what a
// rebuild from git would give.
package main

import (
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/gitlatch/gitlatch/internal/report"
)

func main() {
	log := report.NewLogger(os.Stdout, time.Now)
	report.TakeStandard(log)
	h, err := newHandler(os.Getenv, time.Now, log, os.Stdout)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	lambda.Start(h.handle)
}
