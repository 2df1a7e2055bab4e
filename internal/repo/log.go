package repo

import (
	"strconv"
	"strings"
	"time"
)

// ParseStamp reads the time of a commit, "seconds zone". Commits with nonsense in
// its place exist; theirs is the zero time.
func ParseStamp(stamp string) time.Time {
	seconds, _, _ := strings.Cut(strings.TrimSpace(stamp), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// A Look looks a commit up by its id; ok is false where the repository lacks it.
type Look func(id string) (c LogEntry, ok bool, err error)

// An End is where a log came to its end.
type End int

const (
	// AtGoal is at the commit looked for, or at the limit: more may be older.
	AtGoal End = iota
	// AtRoots is where nothing is older.
	AtRoots
	// AtGap is before a commit that the repository lacks.
	AtGap
)

// Log lists what a commit descends from, itself first and by distance, for an
// adapter that looks commits up one by one. It ends with the commit until, or with
// limit commits.
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
