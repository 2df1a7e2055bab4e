package dispatch

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// longestDelay is the most that SQS delays a message by.
const longestDelay = 15 * time.Minute

// Spread is the time over which the turns of a period are spread: the period, or
// what SQS can delay by where that is shorter.
func Spread(period time.Duration) time.Duration { return min(period, longestDelay) }

// Delay is how long after the begin of a period the turn of a site comes, in
// whole seconds, less than the spread, which is a second or more. It follows from
// the site's name alone, so that it is the same in each period whichever other
// sites there are, and the turns of many sites are spread evenly.
func Delay(site string, spread time.Duration) time.Duration {
	sum := sha256.Sum256([]byte(site))
	seconds := uint64(max(1, spread/time.Second))
	return time.Duration(binary.BigEndian.Uint64(sum[:])%seconds) * time.Second
}
