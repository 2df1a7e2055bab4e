package latch_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
)

// Two latches that differ in a field other than their revision are not equal. Otherwise a
// change of that field would not be saved.
func TestLatchesThatDifferInAnythingAreNotEqual(t *testing.T) {
	t.Parallel()
	var one latch.Latch
	if !one.Equal(latch.Latch{Rev: 1}) {
		t.Error("revisions make latches differ")
	}
	differing(t, "latch", reflect.ValueOf(&one).Elem(), func(where string) {
		if where != "latch.Rev" && (one.Equal(latch.Latch{}) || latch.Latch{}.Equal(one)) {
			t.Errorf("%s makes no difference", where)
		}
	})
}

// differing sets each part of a value to another value in turn, and calls check.
func differing(t *testing.T, where string, v reflect.Value, check func(string)) {
	t.Helper()
	if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
		for i := range v.NumField() {
			differing(t, where+"."+v.Type().Field(i).Name, v.Field(i), check)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		differing(t, where, v.Elem(), check)
		v.SetZero()
		return
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	default:
		t.Fatalf("%s is a %s, of which this test knows no other value", where, v.Type())
	}
	check(where)
	v.SetZero()
}
