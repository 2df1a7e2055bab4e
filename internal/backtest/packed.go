package backtest

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// fields are the numbers of a scale in a past. In most samples they do not change.
type fields [5]int32

const (
	desired = iota
	missing // desired minus ready
	lower
	upper
	target // in units of 0.01 %
)

const targetUnit = 1e4

func fieldsOf(s workload.Scale) fields {
	return fields{s.Desired, s.Desired - s.Ready, s.Min, s.Max, int32(math.Round(s.Target * targetUnit))}
}

// scale returns the scale of an autoscaled workload: a past has no other drivers.
func (f fields) scale() workload.Scale {
	return workload.Scale{
		Desired: f[desired], Ready: f[desired] - f[missing], Min: f[lower], Max: f[upper],
		Target: float64(f[target]) / targetUnit, Driver: workload.DrivenByHPA,
	}
}

// packed contains encoded samples, one after another. Each has a bit for each field that
// changed, then the change of the time between samples, then the changes of these fields.
type packed struct {
	data    []byte
	samples int
	at      int64 // time of the last sample, in Unix seconds
	step    int64 // seconds between the last two samples
	now     fields
}

func (p *packed) add(at int64, f fields) {
	changed := byte(0)
	for i := range f {
		if f[i] != p.now[i] {
			changed |= 1 << i
		}
	}
	step := at - p.at
	p.data = append(p.data, changed)
	p.data = binary.AppendVarint(p.data, step-p.step)
	for i := range f {
		if changed>>i&1 == 1 {
			p.data = binary.AppendVarint(p.data, int64(f[i])-int64(p.now[i]))
		}
	}
	p.samples++
	p.at = at
	p.step = step
	p.now = f
}

// all iterates over the samples, with their times in Unix seconds.
func (p *packed) all() iter.Seq2[int64, fields] {
	return func(yield func(int64, fields) bool) {
		var at, step int64
		var f fields
		rest := p.data
		next := func() int64 {
			n, size := binary.Varint(rest)
			rest = rest[size:]
			return n
		}
		for len(rest) > 0 {
			changed := rest[0]
			rest = rest[1:]
			step += next()
			at += step
			for i := range f {
				if changed>>i&1 == 1 {
					f[i] += int32(next())
				}
			}
			if !yield(at, f) {
				return
			}
		}
	}
}
