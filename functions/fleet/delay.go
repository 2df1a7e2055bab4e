package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// longestDelay is the longest delay of a message in SQS.
const longestDelay = 15 * time.Minute

// Spread returns the time that the turns of a period are distributed over: the period, or
// the longest delay of SQS if it is shorter.
func Spread(period time.Duration) time.Duration { return min(period, longestDelay) }

// Delay returns the time from the start of a period to the turn of a site. It is in whole
// seconds and below spread, which must be at least one second. It depends only on the
// name of the site, so it is the same in each period and for any list of sites. The turns
// of many sites are distributed evenly.
func Delay(site string, spread time.Duration) time.Duration {
	sum := sha256.Sum256([]byte(site))
	seconds := uint64(max(1, spread/time.Second))
	return time.Duration(binary.BigEndian.Uint64(sum[:])%seconds) * time.Second
}
