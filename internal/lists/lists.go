// Package lists has small functions for lists: map, filter, count and index.
package lists

import "slices"

// Map returns the result of made for each element, in order. It is never nil.
func Map[T, U any](all []T, made func(T) U) []U {
	of := make([]U, len(all))
	for i, one := range all {
		of[i] = made(one)
	}
	return of
}

// Count returns the number of elements for which is returns true.
func Count[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// Filter returns the elements for which is returns true, in order.
func Filter[T any](all []T, is func(T) bool) (those []T) {
	for _, one := range all {
		if is(one) {
			those = append(those, one)
		}
	}
	return those
}

// Index returns the elements by key. If several have the same key, the last one wins.
func Index[T any, K comparable](all []T, key func(T) K) map[K]T {
	by := make(map[K]T, len(all))
	for _, one := range all {
		by[key(one)] = one
	}
	return by
}

// First returns the first of all for which is is true, and whether there is one.
func First[T any](all []T, is func(T) bool) (first T, found bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return first, false
}
