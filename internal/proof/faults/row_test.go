package faults

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A fault answers a request instead of the handler behind it, or acts before or after
// it.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// A row is one way in which one part fails. The need of the site's workload goes
// from 2 to 60 while it lasts, which is a surge.
type row struct {
	name string
	// begins brings the fault about, and ends takes it away; nil is that nothing is
	// left to take away.
	begins, ends func(*testing.T, *world)
	// says is the complete error of the tick, with placeholders for the addresses; ""
	// if the tick recovers from the fault without an error.
	says string
	// ticks is how many ticks the fault lasts; 0 is one.
	ticks int
	// alerts are all alerts in order; nil is the surge alone.
	alerts []string
}

const (
	// enough is more time than any tick takes on a busy machine. A tick that takes
	// longer hangs.
	enough = 3 * time.Minute
	// wrapUp is the time that the function reserves for the end of a tick.
	wrapUp = 10 * time.Second
)

// happens takes a site through the fault.
func (x row) happens(t *testing.T, w *world) {
	w.needs(t, 2)
	w.calm(t)
	w.declares(t, 2)

	w.needs(t, 60)
	x.begins(t, w)
	for range max(x.ticks, 1) {
		said := ""
		if err := w.tick(t); err != nil {
			said = w.plain(err.Error())
		}
		if said != x.says {
			t.Errorf("the tick said\n%s\nwant\n%s", said, x.says)
		}
	}
	if x.ends != nil {
		x.ends(t, w)
	}

	w.calm(t)
	w.declares(t, 100)
	alerts := x.alerts
	if alerts == nil {
		alerts = []string{"surge raised"}
	}
	w.heard(t, alerts)
	tip := w.origin.Tip("main")
	w.calm(t)
	if w.origin.Tip("main") != tip {
		t.Errorf("a quiet tick committed: %q", w.origin.Log(t, "main"))
	}
	w.heard(t, alerts)
	w.origin.Check(t)
}

// run takes a separate site through each row.
func run(t *testing.T, rows []row, site func(*testing.T, string) *world) {
	for _, x := range rows {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			w := site(t, strings.NewReplacer(" ", "-", ",", "").Replace(x.name))
			defer w.leaks(t)
			x.happens(t, w)
		})
	}
}

// Addresses and names differ from run to run.
var (
	ports   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	streams = regexp.MustCompile(`stream ID \d+`)
	// Two seconds may or may not be enough for all attempts. The error is the last one,
	// and has two lines if they were not.
	given    = regexp.MustCompile(`(?s)(give back the lease of site SITE: ).*`)
	requests = regexp.MustCompile(`RequestID: \w+,`)
)

// Faults of any part.

// cut ends the connection instead of an answer. It reads the request first: a
// connection that is closed with unread data is reset.
func cut(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_ = read(r)
	panic(http.ErrAbortHandler)
}

// stalled never answers, and the time of the tick is over.
func stalled(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	timeIsUp(r)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// lost has the request done and its answer lost.
func lost(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(&kept{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// slow answers late.
func slow(w http.ResponseWriter, r *http.Request, next http.Handler) {
	time.Sleep(300 * time.Millisecond)
	next.ServeHTTP(w, r)
}

// status answers with a status and words.
func status(code int, words string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { http.Error(w, words, code) }
}

// half sends the first half of an answer, and then does as then does.
func half(then fault) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		whole := &kept{header: http.Header{}}
		next.ServeHTTP(whole, r)
		for name, values := range whole.header {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(whole.code())
		_, _ = w.Write(whole.body.Bytes()[:whole.body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		then(w, r, next)
	}
}

// ended ends an answer as if that were all.
func ended(http.ResponseWriter, *http.Request, http.Handler) {}

// echoed repeats the full head of a request, as some proxies do when they fail.
func echoed(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	http.Error(w, head(r), http.StatusBadGateway)
}

func head(r *http.Request) string {
	var all bytes.Buffer
	_ = r.Header.Write(&all)
	return all.String()
}

// on has a fault concern the requests that which chooses, and no others.
func on(which func(*http.Request) bool, do fault) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if which(r) {
			do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// behind returns two faults in a row: then meets the requests that first lets
// through.
func behind(first, then fault) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		first(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { then(w, r, next) }))
	}
}

// kept keeps an answer.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

func (k *kept) code() int { return max(k.status, http.StatusOK) }

// read returns a request's body, and leaves it to be read again.
func read(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}
