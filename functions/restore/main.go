// Command restore is the Lambda function for restores. It raises the workloads of a
// cluster that came up small to their levels in git, and later releases the brakes of
// their autoscalers.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
)

func main() {
	awslambda.Start(time.Now, func(log zerolog.Logger) (any, error) {
		h, err := newHandler(os.Getenv, time.Now, log)
		return h.handle, err
	})
}
