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

// packed holds samples one after another: by how much the time since the one
// before is another than that before it, with a bit for each field that changed,
// then by how much these did. Chunks spare the copies of a slice that grows.
type packed struct {
	chunks  [][]byte
	samples int
	first   int64 // Unix seconds, as is at
	at      int64
	step    int64 // seconds from the sample before the last to the last
	now     fields
}

const chunkSize = 16 << 10

// longest is the most bytes that one sample takes.
const longest = (1 + len(fields{})) * binary.MaxVarintLen64

func (p *packed) add(at int64, f fields) {
	n := len(p.chunks) - 1
	if n < 0 || cap(p.chunks[n])-len(p.chunks[n]) < longest {
		p.chunks = append(p.chunks, make([]byte, 0, chunkSize))
		n++
	}
	changed := uint64(0)
	for i := range f {
		if f[i] != p.now[i] {
			changed |= 1 << i
		}
	}
	if p.samples == 0 {
		p.first, p.at = at, at
	}
	step := at - p.at
	b := binary.AppendUvarint(p.chunks[n], zigzag(step-p.step)<<len(f)|changed)
	for i := range f {
		if changed>>i&1 == 1 {
			b = binary.AppendVarint(b, int64(f[i])-int64(p.now[i]))
		}
	}
	p.chunks[n] = b
	p.samples++
	p.at = at
	p.step = step
	p.now = f
}

// all are the samples, with their instants in Unix seconds.
func (p *packed) all() iter.Seq2[int64, fields] {
	return func(yield func(int64, fields) bool) {
		at := p.first
		step := int64(0)
		f := fields{}
		for _, b := range p.chunks {
			for len(b) > 0 {
				head, n := binary.Uvarint(b)
				b = b[n:]
				step += zagzig(head >> len(f))
				at += step
				for i := range f {
					if head>>i&1 == 1 {
						by, n := binary.Varint(b)
						b = b[n:]
						f[i] += int32(by)
					}
				}
				if !yield(at, f) {
					return
				}
			}
		}
	}
}

// zigzag maps small numbers of either sign to small ones of none, and zagzig back.
func zigzag(n int64) uint64 { return uint64(n<<1 ^ n>>63) }

func zagzig(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
