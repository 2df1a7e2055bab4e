// Command bench-backtest measures how fast gitlatch backtest runs one policy over 90
// days of 50 workloads with a sample every minute, the ratio of its processor time to
// only splitting the same CSV into fields, and its peak memory. It fails above its
// memory limit.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
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

// split is the argument that makes the command only split its standard input.
const split = "split"

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	act := run
	if len(os.Args) == 2 && os.Args[1] == split {
		act = splitting
	}
	if err := act(ctx, os.Stdout); err != nil {
		log.Fatal("bench-backtest: ", err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	begin := time.Now()
	answer, tried, err := fed(backtest(ctx, "json"))
	if err != nil {
		return fmt.Errorf("%w; is bin/gitlatch there? run make bin/gitlatch", err)
	}
	took := time.Since(begin)
	samples, err := checked(answer)
	if err != nil {
		return err
	}
	_, only, err := fed(exec.CommandContext(ctx, self, split))
	if err != nil {
		return err
	}
	page, drawn, err := fed(backtest(ctx, "html"))
	if err != nil {
		return err
	}
	if !bytes.Contains(page, []byte("shop/web-49 with policy cope")) {
		return fmt.Errorf("the page has no chart: %.200s", page)
	}
	mib, ratio := memory(tried), seconds(tried)/seconds(only)
	fmt.Fprintf(out, "figure backtest_samples_per_s %.0f\n", float64(samples)/took.Seconds())
	fmt.Fprintf(out, "figure backtest_rss_mib %.1f\n", mib)
	fmt.Fprintf(out, "figure backtest_page_rss_mib %.1f\n", memory(drawn))
	fmt.Fprintf(out, "figure backtest_csv_ratio %.1f\n", ratio)
	if most := max(mib, memory(drawn)); !(most <= maxMiB) { // also fails if the system reports no value
		return fmt.Errorf("took %.1f MiB, and may take %d", most, maxMiB)
	}
	return nil
}

// backtest returns the command to measure.
func backtest(ctx context.Context, output string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join("bin", "gitlatch"), "backtest", "--policy", filepath.Join("scripts", "bench-backtest", "gitlatch.yaml"), "--period", "1m", "-o", output, "-")
}

// fed runs a command with the CSV as its standard input.
func fed(c *exec.Cmd) (answer []byte, ended *os.ProcessState, err error) {
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	written := write(in)
	err = errors.Join(c.Wait(), written)
	return out.Bytes(), c.ProcessState, err
}

// splitting splits the standard input into fields, and does nothing with them.
func splitting(context.Context, io.Writer) error {
	rows := csv.NewReader(bufio.NewReaderSize(os.Stdin, 64<<10))
	rows.ReuseRecord = true
	for {
		if _, err := rows.Read(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// seconds returns the processor time of a process. Other processes affect it less than
// the elapsed time.
func seconds(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// write writes CSV like an exporter, one time after another. The workloads swing by the
// day, each with its peak at another hour, and with 2 % noise in each number.
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

// checked returns the number of samples that were read. It returns an error unless that
// is the written number and the candidate made commits.
func checked(answer []byte) (int64, error) {
	var d struct {
		Samples  int64
		Policies []struct{ Commits, Levels int }
	}
	if err := json.Unmarshal(answer, &d); err != nil {
		return 0, err
	}
	if d.Samples != workloads*minutes || len(d.Policies) != 2 || d.Policies[1].Levels != workloads || d.Policies[1].Commits == 0 {
		return 0, fmt.Errorf("not all was read, or nothing came of it: %s", answer)
	}
	return d.Samples, nil
}

// memory returns the peak memory of a process, in MiB.
func memory(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return math.NaN()
	}
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss) / (1 << 20) // in bytes on macOS
	}
	return float64(usage.Maxrss) / (1 << 10)
}
