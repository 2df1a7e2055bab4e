package demand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// maxAnswer is the maximum size of an answer in bytes. An answer with one number has some
// hundred bytes.
const maxAnswer = 1 << 20

// A Prometheus is a server with Prometheus's HTTP API. It gets an instant query for each
// workload, which must return one number.
type Prometheus struct {
	URL     string // without /api/v1/query
	Token   string // a bearer token; "" if there is none
	Queries map[workload.ID]string
}

// patient does not follow redirects, so that no other server receives the token.
var patient = &http.Client{
	Timeout:       answerWithin,
	Transport:     redact.Transport(http.DefaultTransport),
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Name returns the name with the server.
func (p Prometheus) Name() string {
	if u, err := url.Parse(p.URL); err == nil {
		return "Prometheus " + u.Host + strings.TrimSuffix(u.Path, "/")
	}
	return "Prometheus"
}

// Measure sends one query after the other. See Source.
func (p Prometheus) Measure(ctx context.Context, at time.Time) (map[workload.ID]float64, error) {
	found := map[workload.ID]float64{}
	var missing []error
	for _, id := range sorted(p.Queries) {
		n, err := p.ask(ctx, p.Queries[id], at)
		var gone *unanswered
		switch {
		case errors.As(err, &gone): // the other queries would fail as well
			return found, errors.Join(append(missing, err)...)
		case err != nil:
			missing = append(missing, none(id, "%s", err))
		default:
			found[id] = n
		}
	}
	return found, errors.Join(missing...)
}

// An unanswered error is a request without an answer from Prometheus.
type unanswered struct{ error }

func (u *unanswered) Unwrap() error { return u.error }

// answer is the answer of Prometheus.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// ask returns the number that a query returns at an instant.
func (p Prometheus) ask(ctx context.Context, query string, at time.Time) (float64, error) {
	form := url.Values{"query": {query}, "time": {strconv.FormatInt(at.Unix(), 10)}}
	to := strings.TrimSuffix(p.URL, "/") + "/api/v1/query?" + form.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return 0, errors.New("its URL is not valid")
	}
	r.Header.Set("Accept", "application/json")
	if p.Token != "" {
		r.Header.Set("Authorization", "Bearer "+p.Token)
	}
	response, err := patient.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok { // its text repeats the query
			err = failed.Err
		}
		return 0, &unanswered{fmt.Errorf("it did not answer: %w", err)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, &unanswered{fmt.Errorf("its response is incomplete: %w", err)}
	}
	var said answer
	parsed := json.Unmarshal(text, &said)
	switch {
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return 0, &unanswered{fmt.Errorf("it answers %s. Set a token that may query", response.Status)}
	case parsed == nil && said.Status == "error":
		return 0, fmt.Errorf("it rejects the query: %s", said.Error)
	case response.StatusCode != http.StatusOK:
		return 0, &unanswered{fmt.Errorf("it answers %s", response.Status)}
	case parsed != nil:
		return 0, &unanswered{errors.New("its response is not from the API of Prometheus. Check the URL")}
	}
	return said.number()
}

// number returns the one number of an answer: the scalar, or the value of the only series
// of a vector.
func (a answer) number() (float64, error) {
	var point [2]any
	switch a.Data.ResultType {
	case "scalar":
		if json.Unmarshal(a.Data.Result, &point) != nil {
			return 0, errors.New("the query returns no number")
		}
	case "vector":
		var series []struct {
			Value [2]any `json:"value"`
		}
		if err := json.Unmarshal(a.Data.Result, &series); err != nil || len(series) != 1 {
			return 0, fmt.Errorf("the query returns %d series instead of one number. Sum them, or correct the query", len(series))
		}
		point = series[0].Value
	default:
		return 0, fmt.Errorf("the query returns a %s instead of one number", a.Data.ResultType)
	}
	text, _ := point[1].(string)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return 0, fmt.Errorf("the query returns %s, which is not a valid demand", strconv.Quote(text))
	}
	return n, nil
}
