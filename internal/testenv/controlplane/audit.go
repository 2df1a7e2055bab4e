package controlplane

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A Request is one line of the audit log: an answered request and its user. The audit
// policy decides which bodies it contains.
type Request struct {
	User, Agent, Verb string
	URI               string
	Object            struct {
		Resource, Subresource, Namespace, Name string
	}
	Code           int // the answer's status
	At             time.Time
	Asked, Answers json.RawMessage // nil where the policy leaves them out
}

// auditLog is the file of the log, below the folder of the control plane.
const auditLog = "audit.log"

// audited returns the flags of an API server with an audit log, or nil without a
// policy.
func (cp *ControlPlane) audited(t testing.TB, policy string) []string {
	t.Helper()
	if policy == "" {
		return nil
	}
	file := filepath.Join(cp.dir, "audit-policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatalf("write the audit policy: %v", err)
	}
	return []string{
		"--audit-policy-file=" + file,
		"--audit-log-path=" + filepath.Join(cp.dir, auditLog),
		"--audit-log-mode=blocking-strict", // a client with an answer finds its request in the log
	}
}

// Audit returns the audit log so far, in the order of the answers. It fails the test
// without an audit policy.
func (cp *ControlPlane) Audit(t testing.TB) []Request {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(cp.dir, auditLog))
	if err != nil {
		t.Fatalf("read the audit log, which Options.Audit asks for: %v", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the last line may still be written
	var all []Request
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("read the audit log: %v in %.200s", err, line)
		}
		all = append(all, e.request())
	}
	return all
}

// event contains the fields of an audit.k8s.io/v1 Event that the tests read.
type event struct {
	Verb             string
	RequestURI       string
	UserAgent        string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
	RequestObject    json.RawMessage
	ResponseObject   json.RawMessage
	StageTimestamp   time.Time
}

func (e event) request() Request {
	r := Request{
		User: cmp.Or(e.ImpersonatedUser.Username, e.User.Username), Agent: e.UserAgent, Verb: e.Verb, URI: e.RequestURI,
		Code: e.ResponseStatus.Code, At: e.StageTimestamp, Asked: e.RequestObject, Answers: e.ResponseObject,
	}
	r.Object = e.ObjectRef
	return r
}
