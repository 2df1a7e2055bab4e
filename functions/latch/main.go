// Command latch is the Lambda that ticks: each invocation is one tick over one
// site, or a dry run of one. Configured for a fleet, it takes the turns of sites
// from a queue.
package main

import (
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
)

func main() {
	log := report.NewLogger(os.Stdout, time.Now)
	report.TakeStandard(log)
	c, err := config.FromEnvironment(os.Getenv)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	if c.Fleet != "" {
		lambda.Start(newWorker(c, os.Getenv, time.Now, log, os.Stdout).handle)
		return
	}
	h, err := newHandler(c, os.Getenv, time.Now, log, os.Stdout)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	lambda.Start(h.handle)
}
