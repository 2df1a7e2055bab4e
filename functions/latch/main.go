// Command latch is the Lambda that ticks: each invocation is one tick over one
// site, or a dry run of one. Configured for a fleet, it takes the turns of sites
// from a queue.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
)

// garbage is how much a tick may leave behind before it is collected, in percent of what
// it holds. With Go's own 100 a large fleet would take half as much memory again. At
// 10,000 workloads 20 instead of 30 is 60 MiB instead of 64, for a twentieth more time.
const garbage = 20

func main() {
	log := report.NewLogger(os.Stdout, time.Now)
	report.TakeStandard(log)
	c, err := config.FromEnvironment(os.Getenv)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	if c.Fleet != "" {
		serve(newWorker(c, os.Getenv, time.Now, log, os.Stdout).handle)
		return
	}
	h, err := newHandler(c, os.Getenv, time.Now, log, os.Stdout)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	serve(h.handle)
}

// serve sets garbage no sooner than the program has started, which takes less than a
// collection.
func serve(handler any) {
	debug.SetGCPercent(garbage)
	lambda.Start(handler)
}
