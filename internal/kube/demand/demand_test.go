package demand_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/kube/demand"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	noon = time.Date(2026, 3, 2, 12, 2, 30, 0, time.UTC)
	web  = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	api  = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
)

// prometheus starts a server that answers queries by their text.
func prometheus(t *testing.T, answers map[string]string) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		*asked = append(*asked, r.Header.Get("Authorization")+" "+r.URL.Path+" "+query.Get("query")+" "+query.Get("time"))
		text, known := answers[query.Get("query")]
		switch {
		case !known:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"status": "error", "errorType": "bad_data", "error": "parse error: unexpected end"}`)
		case text == "gone":
			http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusFound)
		case strings.HasPrefix(text, "5") || strings.HasPrefix(text, "4"):
			code := 0
			fmt.Sscan(text, &code)
			http.Error(w, "no", code)
		default:
			fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func vector(values ...string) string {
	var series []string
	for _, v := range values {
		series = append(series, `{"metric": {}, "value": [1772452950.1, "`+v+`"]}`)
	}
	return `{"status": "success", "data": {"resultType": "vector", "result": [` + strings.Join(series, ",") + `]}}`
}

func TestPrometheusGivesOneNumber(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct {
		demand float64
		says   string
	}{
		vector("1250.5"): {1250.5, ""},
		vector("0"):      {0, ""},
		`{"status": "success", "data": {"resultType": "scalar", "result": [1772452950, "7"]}}`: {7, ""},
		vector():         {-1, "of shop/web: the query returns 0 series instead of one number. Sum them, or correct the query"},
		vector("1", "2"): {-1, "the query returns 2 series"},
		vector("NaN"):    {-1, `the query returns "NaN", which is not a valid demand`},
		vector("-3"):     {-1, `the query returns "-3", which is not a valid demand`},
		vector("+Inf"):   {-1, `the query returns "+Inf", which is not a valid demand`},
		`{"status": "success", "data": {"resultType": "matrix", "result": []}}`: {-1, "returns a matrix instead of one number"},
		"502":    {-1, "it answers 502 Bad Gateway"},
		"401":    {-1, "it answers 401 Unauthorized. Set a token that may query"},
		"gone":   {-1, "it answers 302 Found"},
		"<html>": {-1, "its response is not from the API of Prometheus. Check the URL"},
	} {
		url, asked := prometheus(t, map[string]string{"sum(up)": answer})
		p := demand.Prometheus{URL: url + "/prefix/", Token: "hunter2", Queries: map[workload.ID]string{web: "sum(up)"}}
		found, err := p.Measure(t.Context(), noon)
		expected := map[workload.ID]float64{}
		if want.demand >= 0 {
			expected[web] = want.demand
		}
		if !maps.Equal(found, expected) || (want.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: found %v, error %v", answer, found, err)
		}
		if got := strings.Join(*asked, "; "); got != "Bearer hunter2 /prefix/api/v1/query sum(up) 1772452950" {
			t.Errorf("asked %s", got)
		}
	}
}

// If one query is refused, the others are still sent. If a server does not answer, it
// gets no further query.
func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	url, asked := prometheus(t, map[string]string{"good": vector("3")})
	found, err := demand.Prometheus{URL: url, Queries: map[workload.ID]string{api: "bad", web: "good"}}.Measure(t.Context(), noon)
	if len(found) != 1 || found[web] != 3 || err == nil || err.Error() != "of shop/api: it rejects the query: parse error: unexpected end" || len(*asked) != 2 {
		t.Errorf("found %v, error %v, asked %q", found, err, *asked)
	}
	url, asked = prometheus(t, map[string]string{"a": "503", "b": "503"})
	if _, err := (demand.Prometheus{URL: url, Queries: map[workload.ID]string{api: "a", web: "b"}}).Measure(t.Context(), noon); err == nil || len(*asked) != 1 {
		t.Errorf("error %v, asked %q", err, *asked)
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	_, err = demand.Prometheus{URL: closed.URL, Queries: map[workload.ID]string{web: "secret_query"}}.Measure(t.Context(), noon)
	if err == nil || !strings.HasPrefix(err.Error(), "it did not answer: ") || strings.Contains(err.Error(), "secret_query") {
		t.Errorf("error %v", err)
	}
}

type fleet struct {
	workload.Fleet
	err error
}

func (f fleet) Sample(context.Context, workload.Kinds) (workload.Fleet, error) { return f.Fleet, f.err }

type source struct {
	name  string
	found map[workload.ID]float64
	err   error
}

func (s source) Name() string { return s.name }

func (s source) Measure(_ context.Context, at time.Time) (map[workload.ID]float64, error) {
	if !at.Equal(noon) {
		return nil, fmt.Errorf("asked as of %s", at)
	}
	return s.found, s.err
}

func TestSamplesGetTheirDemand(t *testing.T) {
	t.Parallel()
	scale := &workload.Scale{Desired: 5}
	look := fleet{Fleet: workload.Fleet{At: noon, Samples: []workload.Sample{{ID: api, Scale: scale}, {ID: web, Scale: scale}}}}
	got, err := demand.Measured(look,
		source{"one", map[workload.ID]float64{web: 30}, nil},
		source{"two", nil, errors.New("it did\nnot answer")},
		demand.Closed("three", errors.New("no token")),
		source{"four", map[workload.ID]float64{{Namespace: "shop", Kind: "worker", Name: "web"}: 7}, nil},
		source{"five", map[workload.ID]float64{{Namespace: "shop", Kind: "walker", Name: "web"}: 7}, nil},
	).Sample(t.Context(), workload.Kinds{"worker": {}})
	if err != nil || got.Samples[0].Scale.Demand != nil || got.Samples[1].Scale.Demand == nil || *got.Samples[1].Scale.Demand != 30 || scale.Demand != nil {
		t.Errorf("error %v, samples %+v", err, got.Samples)
	}
	if want := "five: of shop/web: gitlatch does not sample its kind. Add walker to kinds of the policy, three: no token, two: it did not answer"; strings.Join(workload.Texts(got.Unmeasured), ", ") != want {
		t.Errorf("unmeasured %q, want %s", got.Unmeasured, want)
	}
	// A cluster that cannot be read is an error, and no source is queried.
	if _, err := demand.Measured(fleet{err: errors.New("unreachable")}, source{}).Sample(t.Context(), nil); err == nil || err.Error() != "unreachable" {
		t.Errorf("error %v", err)
	}
}
