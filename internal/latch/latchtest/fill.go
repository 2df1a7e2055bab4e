package latchtest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// zone is a location that no store preserves, so that the tests compare instants and not
// locations.
var zone = time.FixedZone("test", 5*3600+1800)

// Full returns a value of T in which every reachable field has a distinct value. Slices
// and maps have two elements, and pointers are not nil. A field that an adapter forgets
// comes back empty.
func Full[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 11, 20, 9, 15, *n, 123456000+*n, zone)))
		return
	case workload.ID:
		v.Set(reflect.ValueOf(workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("web-%d.v2", *n)}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, n)
			fill(elem, n)
			v.SetMapIndex(key, elem)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d é \x00\"", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		v.SetInt(int64(*n))
	case reflect.Int64:
		v.SetInt(1<<60 + int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	default:
		panic(fmt.Sprintf("latchtest: %s is of a kind that nothing fills", v.Type()))
	}
}

// inUTC returns a copy of v with every instant in UTC. It is independent of the adapters,
// and handles all types in the values of a store.
func inUTC[T any](v T) T {
	return utc(reflect.ValueOf(v)).Interface().(T)
}

func utc(v reflect.Value) reflect.Value {
	if t, ok := v.Interface().(time.Time); ok {
		return reflect.ValueOf(t.UTC())
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(utc(v.Field(i)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(utc(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				c.Index(i).Set(utc(v.Index(i)))
			}
		}
	}
	return c
}
