// Command restore is the Lambda that raises a cluster which came up small to
// what git declares, and lets autoscalers scale down again afterwards.
package main

import (
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/awslambda"
)

func main() {
	awslambda.Start(time.Now, func(log zerolog.Logger) (any, error) {
		h, err := newHandler(os.Getenv, time.Now, log)
		return h.handle, err
	})
}
