// Command bench-backtest measures how fast gitlatch backtest runs one policy over
// 90 days of 50 workloads, sampled and looked at every minute, and how much memory
// it takes. It fails beyond the memory that it may take.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	workloads = 50
	days      = 90
	minutes   = days * 24 * 60

	maxMiB   = 100
	deadline = 15 * time.Minute
)

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal("bench-backtest: ", err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	answer, took, mib, err := measure(ctx, "json")
	if err != nil {
		return err
	}
	samples, err := checked(answer)
	if err != nil {
		return err
	}
	page, _, pageMiB, err := measure(ctx, "html")
	if err != nil {
		return err
	}
	_, data, _ := bytes.Cut(page, []byte(`id="document">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	if _, err := checked(data); err != nil {
		return err
	}
	fmt.Fprintf(out, "figure backtest_samples_per_s %.0f\n", float64(samples)/took.Seconds())
	fmt.Fprintf(out, "figure backtest_rss_mib %.1f\n", mib)
	fmt.Fprintf(out, "figure backtest_page_rss_mib %.1f\n", pageMiB)
	if most := max(mib, pageMiB); most > maxMiB {
		return fmt.Errorf("took %.1f MiB, and may take %d", most, maxMiB)
	}
	return nil
}

// measure runs a backtest, and returns what it wrote, how long it took and how
// much memory.
func measure(ctx context.Context, output string) (answer []byte, took time.Duration, mib float64, err error) {
	command := exec.CommandContext(ctx, filepath.Join("bin", "gitlatch"), "backtest", "--preset", "cope", "--period", "1m", "-o", output, "-")
	in, err := command.StdinPipe()
	if err != nil {
		return nil, 0, 0, err
	}
	var wrote bytes.Buffer
	command.Stdout, command.Stderr = &wrote, os.Stderr
	begin := time.Now()
	if err := command.Start(); err != nil {
		return nil, 0, 0, fmt.Errorf("%w; run make bin/gitlatch", err)
	}
	written := write(in)
	if err := errors.Join(command.Wait(), written); err != nil {
		return nil, 0, 0, err
	}
	return wrote.Bytes(), time.Since(begin), memory(command.ProcessState), nil
}

// write writes CSV as an exporter does, one instant after another: workloads that
// swing by the day, each at its own hour, with 2 % noise in every count.
func write(to io.WriteCloser) error {
	out := bufio.NewWriterSize(to, 1<<20)
	noise := rand.New(rand.NewPCG(2018, 0))
	line := []byte("time,workload,replicas\n")
	begin := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	for minute := range minutes {
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = line[:0]
		at := begin.Add(time.Duration(minute) * time.Minute)
		for w := range workloads {
			peak := 10 * math.Pow(1.12, float64(w))
			load := peak * (0.55 - 0.45*math.Cos(2*math.Pi*(float64(minute)/1440+float64(w)/workloads))) * (1 + 0.02*noise.NormFloat64())
			line = at.AppendFormat(line, time.RFC3339)
			line = append(line, ",shop/web-"...)
			line = strconv.AppendInt(line, int64(w), 10)
			line = append(line, ',')
			line = strconv.AppendInt(line, int64(math.Ceil(load)), 10)
			line = append(line, '\n')
		}
	}
	_, err := out.Write(line)
	return errors.Join(err, out.Flush(), to.Close())
}

// checked returns how many samples were read, after a look at whether they were
// all that were written, and made anything.
func checked(answer []byte) (int64, error) {
	var d struct {
		Samples    int64
		Candidates []struct{ Commits, Declared int }
	}
	if err := json.Unmarshal(answer, &d); err != nil {
		return 0, err
	}
	if d.Samples != workloads*minutes || len(d.Candidates) != 1 || d.Candidates[0].Declared != workloads || d.Candidates[0].Commits == 0 {
		return 0, fmt.Errorf("not all was read, or nothing came of it: %s", answer)
	}
	return d.Samples, nil
}

// memory is the most that a process ever held, in MiB.
func memory(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return math.NaN()
	}
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss) / (1 << 20) // in bytes there
	}
	return float64(usage.Maxrss) / (1 << 10)
}
