package backtest

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// fields are what is kept of a scale, in whole numbers: a sample mostly has
// those of the one before.
type fields [5]int32

const (
	desired = iota
	missing // desired less ready
	lower
	upper
	target // hundredths of a percent
)

const targetUnit = 1e4

func fieldsOf(s workload.Scale) fields {
	return fields{s.Desired, s.Desired - s.Ready, s.Min, s.Max, int32(math.Round(s.Target * targetUnit))}
}

// scale is that of an autoscaled workload: what a past does not say.
func (f fields) scale() workload.Scale {
	return workload.Scale{
		Desired: f[desired], Ready: f[desired] - f[missing], Min: f[lower], Max: f[upper],
		Target: float64(f[target]) / targetUnit, Driver: workload.DrivenByHPA,
	}
}

// packed holds samples one after another: a bit for each field that changed, by how
// much the time since the sample before is another than that before it, and by how
// much these fields did.
type packed struct {
	data    []byte
	samples int
	at      int64 // of the last sample, in Unix seconds
	step    int64 // seconds from the sample before the last to the last
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

// all are the samples, with their instants in Unix seconds.
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
