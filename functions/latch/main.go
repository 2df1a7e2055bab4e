// Command latch is the Lambda function for ticks. Each invocation is one tick of one
// site, or a dry run. If it is configured for a fleet, it receives the turns of the sites
// from a queue.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/internal/config"
)

func main() {
	awslambda.Start(time.Now, func(log zerolog.Logger) (any, error) {
		c, err := config.FromEnvironment(os.Getenv)
		switch {
		case err != nil:
			return nil, err
		case c.Fleet != "":
			return newWorker(c, os.Getenv, time.Now, log, os.Stdout).handle, nil
		}
		h, err := newHandler(c, os.Getenv, time.Now, log, os.Stdout)
		return h.handle, err
	})
}
