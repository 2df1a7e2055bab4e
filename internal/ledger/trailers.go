package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The keys of the trailers, by which a commit is known again.
const (
	keySite   = "Gitlatch-Site"
	keyIntent = "Gitlatch-Intent"
	keyBase   = "Gitlatch-Base"
	keySurge  = "Gitlatch-Surge"
)

// Trailers say of a commit what its difference to its parent does not.
type Trailers struct {
	Site   string
	Intent string // see Intent; "" is a commit that no tick made
	// Base is the commit of the base that a proposal was made on; "" is a commit
	// that was pushed to the base, on its parent.
	Base   string
	Surges []Surge
}

// A Surge is a raise that people are to be told of.
type Surge struct {
	ID   workload.ID
	Need int32 // in pods
}

// String is the last lines of a message.
func (t Trailers) String() string {
	var b strings.Builder
	say := func(key string, value any) { fmt.Fprintf(&b, "%s: %v\n", key, value) }
	say(keySite, t.Site)
	say(keyIntent, t.Intent)
	if t.Base != "" {
		say(keyBase, t.Base)
	}
	for _, s := range t.Surges {
		say(keySurge, fmt.Sprintf("%s %d", s.ID, s.Need))
	}
	return b.String()
}

// ReadTrailers takes the trailers out of a message, wherever they stand in it: hosts put
// a squashed message into another. What cannot be read is left out.
func ReadTrailers(message string) (t Trailers) {
	for line := range strings.Lines(message) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case keySite:
			t.Site = value
		case keyIntent:
			t.Intent = value
		case keyBase:
			t.Base = value
		case keySurge:
			name, need, _ := strings.Cut(value, " ")
			id, err := workload.ParseID(name)
			if n, bad := strconv.ParseInt(need, 10, 32); err == nil && bad == nil {
				t.Surges = append(t.Surges, Surge{id, int32(n)})
			}
		}
	}
	return t
}

// Ours reports whether a message is of a commit that gitlatch made for the site.
func Ours(site, message string) bool { return ReadTrailers(message).Site == site }

// format is the version of Intent, and begins each.
const format = "2-"

// Intent names what a commit does: to which site, on which commit of the base,
// to which entries. The same push has the same name whenever it is made.
func Intent(site, base string, changes []checkpoint.Change) string {
	text, err := json.Marshal([]any{format, site, base, changes})
	if err != nil {
		panic(err) // plain values only
	}
	sum := sha256.Sum256(text)
	return format + hex.EncodeToString(sum[:8])
}

// Verify reports whether a commit's changes are those of its Intent: a copy of the
// message on other content fails.
func (t Trailers) Verify(base string, changes []checkpoint.Change) bool {
	return t.Intent == Intent(t.Site, base, changes)
}

// Pushed reports whether a tick of the site made the commit.
func (t Trailers) Pushed(site string) bool { return t.Site == site && t.Intent != "" }
