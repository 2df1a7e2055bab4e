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

// trailers is the start of the key of each trailer.
const trailers = "Gitlatch-"

// The keys of the trailers, which identify a commit.
const (
	keySite   = trailers + "Site"
	keyIntent = trailers + "Intent"
	keyBase   = trailers + "Base"
	keySurge  = trailers + "Surge"
)

// Trailers are the facts of a commit that its difference to its parent does not show.
type Trailers struct {
	Site   string
	Intent string // see Intent; "" if no tick made the commit
	// Base is the commit of the base that a proposal was made on; "" for a commit that
	// was pushed to the base, on its parent.
	Base   string
	Surges []Surge
}

// A Surge is a raise with an alert.
type Surge struct {
	ID   workload.ID
	Need int32 // desired replicas, in pods
}

// String returns the trailers as the last lines of a message.
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

// ReadTrailers returns the trailers of a message. It finds them anywhere in the message,
// because hosts put a squashed message into another one. It skips trailers that it cannot
// parse.
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

// Ours reports whether gitlatch made the commit of a message for the site.
func Ours(site, message string) bool { return ReadTrailers(message).Site == site }

// format is the version and the prefix of each Intent.
const format = "2-"

// Intent returns the name of a change: the site, the commit of the base and the changed
// entries. It does not depend on the time.
func Intent(site, base string, changes []checkpoint.Change) string {
	text, err := json.Marshal([]any{format, site, base, changes})
	if err != nil {
		panic(err) // plain values only
	}
	sum := sha256.Sum256(text)
	return format + hex.EncodeToString(sum[:8])
}

// Verify reports whether a commit's changes match its Intent. A copy of the message on
// other content does not match.
func (t Trailers) Verify(base string, changes []checkpoint.Change) bool {
	return t.Intent == Intent(t.Site, base, changes)
}

// Pushed reports whether a tick of the site made the commit.
func (t Trailers) Pushed(site string) bool { return t.Site == site && t.Intent != "" }
