package policy_test

import (
	"math/big"
	"slices"

	"github.com/gitlatch/gitlatch/internal/policy"
)

// one is one pod in the oracle's unit of need: a hundredth (utilisation) of a
// thousandth (margin).
const one = 100 * 1000

// raised returns the level that a count asks for.
func (r rule) raised(count int32, b policy.Bounds, v view) int32 {
	return r.level(r.need(count, v)*1000, b)
}

// lowered returns the level of a count with the margin, which allows a lowering if it is
// below the level in git. The floor has no margin.
func (r rule) lowered(count int32, b policy.Bounds, v view) int32 {
	if count <= floor(b) {
		return floor(b)
	}
	return r.level(r.need(count, v)*(1000+max(r.margin, v.tolerance)), b)
}

// need returns a count in hundredths of a pod.
func (r rule) need(count int32, v view) int64 {
	if r.round == policy.RoundHeadroom && v.target > 0 {
		return int64(count) * v.target
	}
	return int64(count) * 100
}

func floor(b policy.Bounds) int32 { return max(1, b.Min) }

// level rounds a need, in units of one, by a search through all levels from the floor up.
func (r rule) level(need int64, b policy.Bounds) int32 {
	below := floor(b)
	if need <= int64(below)*one {
		return below
	}
	for _, above := range r.levels {
		if above <= below {
			continue
		}
		if b.Max > 0 && above >= b.Max {
			break
		}
		if need > int64(above)*one {
			below = above
			continue
		}
		return r.choose(need, below, above)
	}
	if b.Max > below {
		return r.choose(need, below, b.Max)
	}
	return below
}

// choose rounds a need above one level to it or to the next.
func (r rule) choose(need int64, below, above int32) int32 {
	if r.round == policy.RoundNearest && need < int64(above)*one {
		square := new(big.Int).Mul(big.NewInt(need), big.NewInt(need))
		product := new(big.Int).Mul(big.NewInt(int64(below)*one), big.NewInt(int64(above)*one))
		if square.Cmp(product) < 0 {
			return below // of the geometric mean
		}
	}
	return above
}

// wasLevel reports whether a latch may have a level that was valid with the present
// minimum and maximum, or with those in an earlier sample that a timer remembers.
func (o *oracle) wasLevel(level int32) bool {
	return slices.ContainsFunc(o.history, func(m moment) bool { return o.rule.isLevel(level, m.bounds) })
}

// isLevel reports whether a latch may have a level: one in the series between minimum
// and maximum, or the minimum or maximum itself.
func (r rule) isLevel(level int32, b policy.Bounds) bool {
	if level == floor(b) || b.Max > floor(b) && level == b.Max {
		return true
	}
	_, found := slices.BinarySearch(r.levels, level)
	return found && level > floor(b) && (b.Max == 0 || level < b.Max)
}

// highest is above every need that the laws draw, including margins.
const highest = 100_000

// levelsOf lists the levels of the named series up to highest.
func levelsOf(name string) []int32 {
	switch name {
	case "1-2-5":
		return []int32{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, highest}
	case "decades":
		return []int32{1, 10, 100, 1000, 10_000, highest}
	case "steps":
		levels := []int32{1, 2, 5, 10, 20, 30, 50, 70}
		for l := int32(100); l <= highest; l++ {
			if l < 1000 && l%50 == 0 || l < 10_000 && l%100 == 0 || l%1000 == 0 {
				levels = append(levels, l)
			}
		}
		return levels
	case "tens":
		var levels []int32
		for l := int32(10); l <= highest; l += 10 {
			levels = append(levels, l)
		}
		return levels
	}
	panic("no levels are written out for series " + name)
}

// levelsFrom returns the levels of a list. After its last level, each integer is a
// level.
func levelsFrom(list []int32) []int32 {
	levels := slices.Clone(list)
	for l := list[len(list)-1] + 1; l <= highest; l++ {
		levels = append(levels, l)
	}
	return levels
}
