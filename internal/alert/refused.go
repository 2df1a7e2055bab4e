package alert

// A RefusedError reports that a receiver rejected a message because of its content. The
// receiver would reject it again.
type RefusedError struct{ Cause error }

// Error describes the cause.
func (e *RefusedError) Error() string { return "rejected permanently: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Cause }
