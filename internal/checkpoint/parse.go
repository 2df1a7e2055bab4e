package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// ParseRecord reads the record of a namespace. It takes what Format writes and
// what a person makes of it: other order, comments, numbers without quotes. The
// error says what is wrong, each problem with its field and what to do. Which
// kinds there are it does not know, and takes any.
func ParseRecord(namespace string, data []byte) (Record, error) {
	return parseRecord(recordFile, namespace, data, func(workload.Kind) error { return nil })
}

func parseRecord(file, namespace string, data []byte, foreign func(workload.Kind) error) (Record, error) {
	d := document{file: file}
	top := d.fields("", d.root(data))
	if len(d.problems) > 0 && len(top.keys) == 0 {
		return Record{}, d.err()
	}
	top.equal("apiVersion", "v1")
	top.equal("kind", "ConfigMap")
	meta := d.fields("metadata", top.get("metadata"))
	meta.equal("name", configMap)
	meta.equal("namespace", namespace)
	meta.refuseRest()
	r := Record{Namespace: namespace, Entries: entries(namespace, d.fields("data", top.get("data")), foreign)}
	top.refuseRest()
	if len(d.problems) > 0 {
		return Record{}, d.err()
	}
	return r, nil
}

// entries reads the entries from the fields of data.
func entries(namespace string, data *fields, foreign func(workload.Kind) error) map[workload.ID]Entry {
	r := Record{Namespace: namespace, Entries: map[workload.ID]Entry{}}
	for _, k := range data.keys {
		id, suffix, err := splitKey(namespace, k)
		if err == nil {
			err = foreign(id.Kind)
		}
		if err != nil {
			data.refuse(k, "%v", err)
			continue
		}
		e := r.Entries[id]
		if ofScale := suffix == "" || suffix == suffixMax || suffix == suffixMin; !ofScale {
			e.Rollout.read(data, k, suffix)
			r.Entries[id] = e
			continue
		}
		if !id.Kind.Scales() {
			data.refuse(k, "must not stand here: a %s has no replicas; remove this line", id.Kind)
			continue
		}
		if level := key(id, ""); !data.has(level) {
			data.refuse(k, "is a bound without its level: add %s, or remove this line", level)
			continue
		}
		switch v := data.whole(k); suffix {
		case suffixMax:
			e.Max = v
		case suffixMin:
			e.Min = v
		default:
			e.Replicas = v
		}
		r.Entries[id] = e
	}
	for _, id := range r.ids() {
		if e := r.Entries[id]; e.Max != 0 && e.Min > e.Max {
			data.refuse(key(id, suffixMin), "must be at most %s, which is %d, got %d", key(id, suffixMax), e.Max, e.Min)
		}
		wholeRollout(data, id)
	}
	return r.Entries
}

// splitKey takes a key of data apart.
func splitKey(namespace, k string) (id workload.ID, suffix string, err error) {
	name := k
	if i := strings.IndexByte(k, '_'); i >= 0 {
		name, suffix = k[:i], k[i:]
	}
	kind, name, dotted := strings.Cut(name, ".")
	if !dotted {
		return workload.ID{}, "", errors.New("must be a kind, a dot and a name, as in deployment.web")
	}
	id = workload.ID{Namespace: namespace, Kind: workload.Kind(kind), Name: name}
	if suffix == "" || suffix == suffixMax || suffix == suffixMin {
		return id, suffix, Fits(id)
	}
	if !rolloutSuffix(suffix) {
		return workload.ID{}, "", fmt.Errorf("unknown fact %q: %s, %s and those of a rollout are known: %s, and %s or %s with the name of a container",
			suffix, suffixMax, suffixMin, strings.Join(rolloutSuffixes, ", "), suffixFrom+"_", suffixTo+"_")
	}
	return id, suffix, errors.Join(Fits(id), fitsKey(id, suffix))
}
