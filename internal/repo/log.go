package repo

import (
	"strconv"
	"strings"
	"time"
)

// ParseStamp parses the time of a commit, "seconds zone". It returns the zero time if the
// seconds are not a number: such commits exist.
func ParseStamp(stamp string) time.Time {
	seconds, _, _ := strings.Cut(strings.TrimSpace(stamp), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// A Look returns a commit by its id; ok is false if the repository does not have it.
type Look func(id string) (c LogEntry, ok bool, err error)

// An End is the reason why a log ended.
type End int

const (
	// AtGoal: the log reached the commit until, or the limit. Older commits may exist.
	AtGoal End = iota
	// AtRoots: no older commits exist.
	AtRoots
	// AtGap: the repository does not have the next commit.
	AtGap
)

// Log returns a commit and its ancestors, nearest first, for an adapter that looks up
// commits one by one. It ends with the commit until, or after limit commits.
func Log(from, until string, limit int, look Look) (log []LogEntry, end End, err error) {
	queue, queued := []string{from}, map[string]bool{from: true}
	for ; len(queue) > 0; queue = queue[1:] {
		if len(log) >= limit || len(log) > 0 && log[len(log)-1].ID == until {
			return log, AtGoal, nil
		}
		c, ok, err := look(queue[0])
		if err != nil || !ok {
			return log, AtGap, err
		}
		log = append(log, c)
		for _, parent := range c.Parents {
			if !queued[parent] {
				queue, queued[parent] = append(queue, parent), true
			}
		}
	}
	return log, AtRoots, nil
}
