// Command karpenter places the pods of fleets with Karpenter's own scheduler, in rounds
// as in production: it computes a schedule, launches the cheapest instance type of each
// new NodeClaim, registers the node with its real capacity, counts the node against the
// limits of its NodePool, and repeats this for the pending pods until nothing changes.
//
// It reads one Fleet per line of standard input, and writes one Answer per line of
// standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// maxLine bounds the JSON of one fleet, in bytes.
const maxLine = 64 << 20

// An Answer is the result of one fleet.
type Answer struct {
	Name  string `json:"name,omitempty"`
	Error string `json:"error,omitempty"` // if set, Runs is empty
	Runs  []Run  `json:"runs,omitempty"`
}

func main() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	err := serve(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	ctx := injection.WithControllerName(context.Background(), "provisioner")
	ctx = log.IntoContext(ctx, logr.Discard())
	ctx = defaults().ToContext(ctx)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		err := answers.Encode(answer(ctx, lines.Bytes()))
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

// defaults returns the defaults of Karpenter's command, without reserved capacity, which
// the fleets do not have.
func defaults() *options.Options {
	return &options.Options{
		CPURequests:       1000,
		PreferencePolicy:  options.PreferencePolicyRespect,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		IgnoreDRARequests: true,
	}
}

func answer(ctx context.Context, line []byte) Answer {
	var fleet Fleet
	err := json.Unmarshal(line, &fleet)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	a := Answer{Name: fleet.Name}
	for order := range max(fleet.Orders, 1) {
		run, err := place(ctx, fleet, uint64(order))
		if err != nil {
			return Answer{Name: fleet.Name, Error: err.Error()}
		}
		a.Runs = append(a.Runs, run)
	}
	return a
}
