// Command restore is the Lambda that raises a cluster which came up small to
// what git declares, and lets autoscalers scale down again afterwards.
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
	h, err := newHandler(os.Getenv, time.Now, log)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	lambda.Start(h.handle)
}
