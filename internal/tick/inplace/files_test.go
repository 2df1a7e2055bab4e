package inplace

import "testing"

func TestAnEditIsToldFromANewMark(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said, says []int32
		to         int32
		ok         bool
	}{
		"nothing":                        {[]int32{100}, []int32{100}, 0, false},
		"set":                            {[]int32{100}, []int32{150}, 150, true},
		"one of two":                     {[]int32{100, 100}, []int32{100, 80}, 80, true},
		"both, the higher":               {[]int32{100, 100}, []int32{70, 80}, 80, true},
		"newly marked":                   {nil, []int32{3}, 0, false},
		"a mark beside it":               {[]int32{100}, []int32{3, 100}, 0, false},
		"a mark beside one that was set": {[]int32{100}, []int32{150, 3}, 150, true},
		"a mark taken away":              {[]int32{100, 100}, []int32{100}, 0, false},
		"one taken away, the other set":  {[]int32{100, 100}, []int32{60}, 60, true},
		"to zero":                        {[]int32{100}, []int32{0}, 0, true},
		"moved in the file":              {[]int32{50, 100}, []int32{100, 50}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if to, ok := edited(c.said, c.says); to != c.to || ok != c.ok {
				t.Errorf("got %d, %v, want %d, %v", to, ok, c.to, c.ok)
			}
		})
	}
}
