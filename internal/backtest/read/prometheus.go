package read

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// prometheus reads the data of an answer to query_range: a matrix, of which each
// series is a workload.
func (d *document) prometheus(path string) error {
	kind := ""
	return d.object(path, map[string]func(string) error{
		"resultType": func(path string) error {
			err := d.into(&kind, "a string")(path)
			if err == nil && kind != "matrix" {
				err = d.wrong(path, "must be matrix, got %q: ask query_range, not query", kind)
			}
			return err
		},
		"result": func(path string) error {
			d.found = true
			return d.list(path, func(path string, i int) error { return d.series(fmt.Sprintf("%s[%d]", path, i)) })
		},
	})
}

// series reads one series, whose labels come before its values.
func (d *document) series(path string) error {
	var run *backtest.Run
	labels := map[string]string{}
	return d.object(path, map[string]func(string) error{
		"metric": func(path string) error {
			if err := d.into(&labels, "labels, which are strings")(path); err != nil {
				return err
			}
			id, err := labelled(labels)
			if err != nil {
				return d.wrong(path, "%v", err)
			}
			run = d.past.Run(id, fmt.Sprintf("%s (%s)", d.name, path))
			return nil
		},
		"values": func(path string) error {
			if run == nil {
				return d.wrong(path, "must come after metric, as Prometheus writes it")
			}
			return d.list(path, func(path string, i int) error { return d.pair(run, path, i) })
		},
	})
}

// labelled is the workload that the labels of a series name, as those of
// kube-state-metrics do.
func labelled(labels map[string]string) (workload.ID, error) {
	for _, kind := range []workload.Kind{workload.Deployment, workload.StatefulSet} {
		if name := labels[string(kind)]; name != "" && labels["namespace"] != "" {
			id := workload.ID{Namespace: labels["namespace"], Kind: kind, Name: name}
			return id, id.Validate()
		}
	}
	return workload.ID{}, fmt.Errorf("must have the labels namespace, and deployment or statefulset: keep them in the query, as max by (namespace, deployment) (kube_deployment_spec_replicas) does")
}

// pair reads a sample: a list of its time and its value.
func (d *document) pair(run *backtest.Run, path string, i int) error {
	var sample any
	if err := d.into(&sample, "a list of time and value")(path); err != nil {
		return err
	}
	of, ok := sample.([]any)
	switch {
	case !ok:
		return d.wrong(fmt.Sprintf("%s[%d]", path, i), "must be a list of time and value")
	case len(of) != 2:
		return d.wrong(fmt.Sprintf("%s[%d]", path, i), "must be a list of time and value, got %d elements", len(of))
	}
	part, err := d.texts(path, of)
	if err != nil {
		return err
	}
	return d.add(run, path, i, part[0], part[1])
}

// add adds a sample, of which both parts are text.
func (d *document) add(run *backtest.Run, path string, i int, when, value string) error {
	place := func() string { return fmt.Sprintf("%s[%d]", path, i) }
	at, err := instant(when)
	if err != nil {
		return d.wrong(place(), "time %v", err)
	}
	n, known, err := pods(value)
	if err != nil {
		return d.wrong(place(), "value %v", err)
	}
	if !known {
		return nil
	}
	if err := run.Add(backtest.Sample{At: at, Scale: workload.Scale{Desired: n, Ready: n}}); err != nil {
		return d.wrong(place(), "%v", err)
	}
	return nil
}
