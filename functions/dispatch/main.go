// Command dispatch is the Lambda that gives the sites of a fleet their turns: each
// invocation reads the list of them, and sends a message for each.
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
