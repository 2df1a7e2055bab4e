// Command echo is a Lambda function that executes the action in its event.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type request struct {
	Do string `json:"do"`
}

type answer struct {
	Calls     int    `json:"calls"` // of this process
	RequestID string `json:"requestId"`
	Left      bool   `json:"left"` // whether there is time until the deadline
	Variable  string `json:"variable"`
	Home      string `json:"home"`
}

type refusal struct{}

func (*refusal) Error() string { return "will not" }

var (
	calls   int
	ballast [][]byte
)

func handle(ctx context.Context, r request) (answer, error) {
	calls++
	fmt.Println("call", calls, r.Do)
	switch r.Do {
	case "refuse":
		return answer{}, &refusal{}
	case "fail":
		return answer{}, errors.New("has failed")
	case "panic":
		panic("at once")
	case "exit":
		os.Exit(3)
	case "hang":
		select {}
	case "grow":
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		ballast = append(ballast, block)
	}
	deadline, ok := ctx.Deadline()
	lc, _ := lambdacontext.FromContext(ctx)
	return answer{calls, lc.AwsRequestID, ok && time.Until(deadline) > 0, os.Getenv("GIVEN"), os.Getenv("HOME")}, nil
}

func main() {
	if os.Getenv("GIVEN") == "die" {
		fmt.Println("dies at its start")
		os.Exit(4)
	}
	lambda.Start(handle)
}
