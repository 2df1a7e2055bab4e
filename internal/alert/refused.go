package alert

// A RefusedError says that what takes messages refused one for what it is: sent
// again, it would be refused again.
type RefusedError struct{ Cause error }

// Error says why.
func (e *RefusedError) Error() string { return "rejected permanently: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Cause }
