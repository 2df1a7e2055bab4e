package latch

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
)

// Format is the version of the stored form that Encode writes and Decode reads.
const Format = 1

// compressAbove is the size in bytes from which a stored value is compressed. Without
// compression, the head of a large fleet would not fit into a DynamoDB item.
const compressAbove = 4 << 10

// Stored are the types that adapters store as bytes.
type Stored interface{ Head | Latch | Lease }

// envelope is the stored form: JSON, compressed if it is large.
type envelope[T any] struct {
	Format int `json:"format"`
	State  T   `json:"state"`
}

// Encode returns the stored form of a value, which is the same for every adapter.
func Encode[T Stored](v T) ([]byte, error) {
	data, err := json.Marshal(envelope[T]{Format, v})
	if err != nil || len(data) < compressAbove {
		return data, err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the only error is an unknown level
	_, err = z.Write(data)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Decode reads the output of Encode, and returns the same value with instants in UTC.
// where names the file or table in errors. The error is a CorruptError, unless a newer
// gitlatch wrote the state. An unknown field is an error, so that writing the value back
// loses no fact.
func Decode[T Stored](where string, data []byte) (T, error) {
	var v T
	sealed, err := open(data)
	if err == nil && sealed.Format > Format {
		return v, fmt.Errorf("%s: the state has format %d, and this gitlatch reads format %d. Update gitlatch, or delete the site's state. gitlatch then reads the levels from git, and only the timers are lost", where, sealed.Format, Format)
	}
	if err == nil && sealed.Format < Format {
		err = errors.New("has no format version")
	}
	if err == nil {
		strict := json.NewDecoder(bytes.NewReader(sealed.State))
		strict.DisallowUnknownFields()
		err = strict.Decode(&v)
	}
	if err != nil {
		return *new(T), &CorruptError{Where: where, Cause: err}
	}
	inUTC(reflect.ValueOf(&v).Elem())
	return v, nil
}

// open decodes the envelope, and leaves the state in it encoded.
func open(data []byte) (sealed envelope[json.RawMessage], err error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return sealed, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return sealed, err
		}
	}
	err = json.Unmarshal(data, &sealed)
	return sealed, err
}

// inUTC sets the location of every instant in a value to UTC, in place, so that a loaded
// value does not depend on the location in which it was saved. It skips maps: their keys
// and values contain no instants.
func inUTC(v reflect.Value) {
	if t, ok := v.Addr().Interface().(*time.Time); ok {
		*t = t.UTC()
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			inUTC(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			inUTC(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			inUTC(v.Index(i))
		}
	}
}
