package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An answer is the answer of Prometheus to query_range. Each series is a workload. Its
// values are pairs of a time, in Unix seconds, and a number of pods.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   *struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Metric map[string]string `json:"metric"`
			Values [][2]any          `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

func readPrometheus(name string, from io.Reader, into *backtest.Past) error {
	in := json.NewDecoder(from)
	in.UseNumber()
	var a answer
	err := in.Decode(&a)
	var broken *fs.PathError
	switch {
	case errors.As(err, &broken):
		return unread(name, err)
	case err != nil:
		return fmt.Errorf("%s: before byte %d: is not a response of Prometheus to query_range: %w. Fetch it again", name, in.InputOffset(), err)
	case in.More():
		return fmt.Errorf("%s: has more after the response of Prometheus. Give each response in a file of its own", name)
	}
	return a.samples(name, into)
}

// samples adds the samples of an answer to a past.
func (a answer) samples(name string, into *backtest.Past) error {
	switch {
	case a.Status != "" && a.Status != "success":
		return fmt.Errorf("%s: status is %q: Prometheus did not answer the query: %q. Fix the query, and fetch the response again", name, a.Status, a.Error)
	case a.Data == nil:
		return fmt.Errorf("%s: must contain data.result, as in a response to query_range", name)
	case a.Data.ResultType != "matrix":
		return fmt.Errorf("%s: data.resultType: must be matrix, got %q. Use query_range, not query", name, a.Data.ResultType)
	}
	for i, s := range a.Data.Result {
		source := fmt.Sprintf("%s: data.result[%d]", name, i)
		id, err := labelled(s.Metric)
		if err != nil {
			return fmt.Errorf("%s.metric: %w", source, err)
		}
		for j, pair := range s.Values {
			if err := sample(into, id, source, fmt.Sprint(pair[0]), fmt.Sprint(pair[1])); err != nil {
				return fmt.Errorf("%s.values[%d]: %w", source, j, err)
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
