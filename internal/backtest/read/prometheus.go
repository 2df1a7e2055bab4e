package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An answer is the answer of Prometheus to query_range. Each series is a workload.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   *struct {
		ResultType string   `json:"resultType"`
		Result     []series `json:"result"`
	} `json:"data"`
}

type series struct {
	Metric map[string]string `json:"metric"`
	// Values are pairs of a time, in Unix seconds, and a number of pods.
	Values [][2]any `json:"values"`
}

func readPrometheus(name string, from io.Reader, into *backtest.Past) error {
	in := json.NewDecoder(from)
	in.UseNumber()
	var a answer
	err := in.Decode(&a)
	var syntax *json.SyntaxError
	var form *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the file is incomplete. Fetch it again", name)
	case errors.As(err, &syntax), errors.As(err, &form):
		return fmt.Errorf("%s: before byte %d: is not a response of Prometheus to query_range: %w", name, in.InputOffset(), err)
	case err != nil:
		return unread(name, err)
	case in.More():
		return fmt.Errorf("%s: has more after the response of Prometheus. Give each response in a file of its own", name)
	}
	if err := a.samples(name, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// samples adds the samples of an answer to a past.
func (a answer) samples(name string, into *backtest.Past) error {
	switch {
	case a.Status != "" && a.Status != "success":
		return fmt.Errorf("status is %q: Prometheus did not answer the query: %q. Fix the query, and fetch the response again", a.Status, a.Error)
	case a.Data == nil:
		return errors.New("must contain data.result, as in a response to query_range")
	case a.Data.ResultType != "matrix":
		return fmt.Errorf("data.resultType: must be matrix, got %q. Use query_range, not query", a.Data.ResultType)
	}
	for i, s := range a.Data.Result {
		path := fmt.Sprintf("data.result[%d]", i)
		id, err := labelled(s.Metric)
		if err != nil {
			return fmt.Errorf("%s.metric: %w", path, err)
		}
		for j, pair := range s.Values {
			if err := sample(into, id, fmt.Sprintf("%s (%s)", name, path), pair); err != nil {
				return fmt.Errorf("%s.values[%d]: %w", path, j, err)
			}
		}
	}
	return nil
}

// labelled returns the workload in the labels of a series, which have the names of
// kube-state-metrics.
func labelled(labels map[string]string) (workload.ID, error) {
	for _, kind := range []workload.Kind{workload.Deployment, workload.StatefulSet} {
		if name := labels[string(kind)]; name != "" && labels["namespace"] != "" {
			id := workload.ID{Namespace: labels["namespace"], Kind: kind, Name: name}
			return id, id.Validate()
		}
	}
	return workload.ID{}, errors.New("must have the labels namespace, and deployment or statefulset: keep them in the query, such as max by (namespace, deployment) (kube_deployment_spec_replicas)")
}

// sample adds a pair of a time and a number of pods.
func sample(into *backtest.Past, id workload.ID, source string, pair [2]any) error {
	at, err := instant(fmt.Sprint(pair[0]))
	if err != nil {
		return fmt.Errorf("time %w", err)
	}
	n, err := pods(fmt.Sprint(pair[1]))
	if err != nil {
		return fmt.Errorf("value %w", err)
	}
	if n == unknown {
		return nil
	}
	return into.Add(id, source, backtest.Sample{At: at, Pods: n})
}
