// Command regionswitch is the Lambda function for a step of an ARC Region switch plan. It
// raises and brakes the workloads of a cluster before the plan moves the traffic, or
// releases the brakes afterwards.
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
