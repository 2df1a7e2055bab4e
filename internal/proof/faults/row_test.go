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

// A row is one fault of one part. During the fault, the desired replicas of the site's
// workload rise from 2 to 60, which is a surge.
type row struct {
	name string
	// begins starts the fault, and ends removes it. ends is nil if nothing must be
	// removed.
	begins, ends func(*testing.T, *world)
	// says is the complete error of the tick, with placeholders for the addresses; ""
	// if the tick recovers from the fault without an error.
	says string
	// ticks is the number of ticks with the fault; 0 means one.
	ticks int
	// alerts are all alerts in order; nil means only the surge.
	alerts []string
}

const (
	// enough is more time than any tick takes on a busy machine. A tick that takes
	// longer hangs.
	enough = 3 * time.Minute
	// wrapUp is the time that the function reserves for the end of a tick.
	wrapUp = 10 * time.Second
)

// happens runs a site through the fault.
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

// run runs a separate site through each row.
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

// Addresses and names differ in each run.
var (
	ports   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	streams = regexp.MustCompile(`stream ID \d+`)
	// Two seconds may or may not be enough for all attempts. The error is the last one,
	// and has two lines if they were not.
	given    = regexp.MustCompile(`(?s)(give back the lease of site SITE: ).*`)
	requests = regexp.MustCompile(`RequestID: \w+,`)
)

// Faults for any part.

// cut ends the connection instead of an answer. It reads the request first: a
// connection that is closed with unread data is reset.
func cut(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_ = read(r)
	panic(http.ErrAbortHandler)
}

// stalled never answers, and ends the time of the tick.
func stalled(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	timeIsUp(r)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// lost executes the request and drops its reply.
func lost(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(&kept{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// slow delays the reply.
func slow(w http.ResponseWriter, r *http.Request, next http.Handler) {
	time.Sleep(300 * time.Millisecond)
	next.ServeHTTP(w, r)
}

// status replies with a status and a text.
func status(code int, words string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { http.Error(w, words, code) }
}

// half sends the first half of the reply, and then calls then.
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

// ended ends the reply as if it were complete.
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

// on applies a fault to the requests that which selects.
func on(which func(*http.Request) bool, do fault) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if which(r) {
			do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// behind combines two faults: then handles the requests that first passes on.
func behind(first, then fault) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		first(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { then(w, r, next) }))
	}
}

// kept stores a reply.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

func (k *kept) code() int { return max(k.status, http.StatusOK) }

// read returns a request's body, and leaves it readable.
func read(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}
