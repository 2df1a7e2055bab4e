package drill

import "encoding/json"

// MarshalJSON makes the coverage null where it is not known.
func (f Fleet) MarshalJSON() ([]byte, error) {
	type plain Fleet
	if f.Nothing == "" {
		return json.Marshal(plain(f))
	}
	return json.Marshal(struct {
		Coverage *float64 `json:"coverage"`
		plain
	}{plain: plain(f)})
}

// MarshalJSON makes the coverage null where it was not known.
func (l Last) MarshalJSON() ([]byte, error) {
	type plain Last
	if l.Nothing == "" {
		return json.Marshal(plain(l))
	}
	return json.Marshal(struct {
		Coverage *float64 `json:"coverage"`
		plain
	}{plain: plain(l)})
}
