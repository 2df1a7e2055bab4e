package read

import "fmt"

// cloudWatch reads the results of GetMetricData, of which each is a workload, or
// some of its samples.
func (d *document) cloudWatch(path string) error {
	d.found = true
	return d.list(path, func(path string, i int) error { return d.metric(fmt.Sprintf("%s[%d]", path, i)) })
}

// metric reads one result. Its times and its values are lists of their own, and
// the latest comes first unless it was asked for the other way.
func (d *document) metric(path string) error {
	label := ""
	var at, counts []any
	if err := d.object(path, map[string]func(string) error{
		"Label":      d.into(&label, "a string"),
		"Timestamps": d.into(&at, "a list"),
		"Values":     d.into(&counts, "a list"),
	}); err != nil {
		return err
	}
	times, err := d.texts(path+".Timestamps", at)
	if err != nil {
		return err
	}
	values, err := d.texts(path+".Values", counts)
	if err != nil {
		return err
	}
	id, err := parseID(label)
	if err != nil {
		return d.wrong(path+".Label", "%v: give each query a Label of that form, as ${PROP('Dim.Namespace')}/${PROP('Dim.PodName')}", err)
	}
	if len(times) != len(values) {
		return d.wrong(path, "must have as many Timestamps as Values, got %d and %d", len(times), len(values))
	}
	run := d.past.Run(id, fmt.Sprintf("%s (%s)", d.name, path))
	back := descends(times)
	for n := range times {
		i := n
		if back {
			i = len(times) - 1 - n
		}
		if err := d.add(run, path, i, times[i], values[i]); err != nil {
			return err
		}
	}
	return nil
}

// descends reports whether the latest time comes first.
func descends(times []string) bool {
	if len(times) < 2 {
		return false
	}
	first, errFirst := instant(times[0])
	last, errLast := instant(times[len(times)-1])
	return errFirst == nil && errLast == nil && last.Before(first)
}
