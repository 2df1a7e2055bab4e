//go:build long

package signing_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

// verifies skips or fails the test if ssh-keygen is not installed. git verifies signatures
// with it.
func verifies(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("ssh-keygen")
	if err != nil {
		skip.Test(t, "needs ssh-keygen, which git verifies by: %v", err)
	}
}

func TestGitVerifiesWhatIsSigned(t *testing.T) {
	t.Parallel()
	all := keys(t)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifies(t)
			o := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"checkpoints/prod/site.yaml": "one\n"})
			key := mustOpen(t, m)
			id := commit(t, o.Dir, o.Tip("main"), key)
			o.Check(t)
			out, err := verify(t, o, id, m)
			if err != nil {
				t.Fatalf("git verify-commit: %v\n%s\n%s", err, out, o.Raw(t, "commit", id))
			}
			if !strings.Contains(out, key.Fingerprint()) {
				t.Errorf("git says %q, want the fingerprint %s", out, key.Fingerprint())
			}
			if got := o.Git(t, "log", "-1", "--format=%B", id); !strings.HasSuffix(got, "Gitlatch-Site: prod\n") {
				t.Errorf("the message is %q", got)
			}

			// A signature is valid for one commit and one key only.
			raw := string(o.Raw(t, "commit", id))
			forged := o.GitInput(t, strings.Replace(raw, "100 -> 200", "100 -> 900", 1), "hash-object", "-t", "commit", "-w", "--stdin")
			if out, err := verify(t, o, forged, m); err == nil {
				t.Errorf("git verifies a commit that was changed: %s", out)
			}
			if stranger := "ecdsa"; stranger != name {
				if out, err := verify(t, o, id, all[stranger]); err == nil {
					t.Errorf("git verifies it as signed by %s: %s", stranger, out)
				}
			}
		})
	}
}
