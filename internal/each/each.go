// Package each says in a line what is made of each element of a list, which of them
// has a key, and of which or of how many something is true.
package each

// Of is what is made of each element, in their order. It is never nil.
func Of[T, U any](all []T, made func(T) U) []U {
	of := make([]U, len(all))
	for i, one := range all {
		of[i] = made(one)
	}
	return of
}

// Count is how many elements something is true of.
func Count[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// Where are the elements that something is true of, in their order.
func Where[T any](all []T, is func(T) bool) (those []T) {
	for _, one := range all {
		if is(one) {
			those = append(those, one)
		}
	}
	return those
}

// By is each element by its key, of those that share one the last.
func By[T any, K comparable](all []T, key func(T) K) map[K]T {
	by := make(map[K]T, len(all))
	for _, one := range all {
		by[key(one)] = one
	}
	return by
}
