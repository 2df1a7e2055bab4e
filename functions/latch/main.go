// Command latch is the scheduled Lambda: each invocation is one tick over one
// site, or a dry run of one.
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
