// Command idle links the same packages as the function and does nothing. The difference
// of their cold starts is the work of the function.
package main

import (
	"runtime"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// linked references the functions, so that the linker does not remove them.
var linked = []any{
	config.ParseConfig, (*wiring.Opener).Open, local.Parts.Close, local.Tick, (*tick.Tick).Run,
	report.NewLogger, report.Log, report.New, report.Brief, lambdacontext.FromContext,
}

func main() {
	lambda.Start(func() {})
	runtime.KeepAlive(linked)
}
