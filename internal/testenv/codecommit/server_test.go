package codecommit

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// The tests of the adapter use the AWS client with the stand-in. These requests are
// ones that no AWS client would send.
func TestWhatIsNotAWSIsRefused(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Create(t, "shop", map[string]string{"a": "1"})
	auth := "AWS4-HMAC-SHA256 Credential=AKID/20261120/" + Region + "/codecommit/aws4_request, SignedHeaders=host, Signature=00"
	for _, c := range []struct{ name, auth, operation, body, want string }{
		{"a good one", auth, "GetBranch", `{"repositoryName":"shop","branchName":"main"}`, `"branchName":"main"`},
		{"unsigned", "", "GetBranch", `{}`, "MissingAuthenticationTokenException"},
		{"for another service", strings.Replace(auth, "codecommit", "s3", 1), "GetBranch", `{}`, "InvalidSignatureException"},
		{"no such operation", auth, "GetEverything", `{}`, "UnknownOperationException"},
		{"a member that is not known", auth, "GetBranch", `{"repositoryName":"shop","branch":"main"}`, "SerializationException"},
		{"no name", auth, "GetBranch", `{"repositoryName":"shop"}`, "BranchNameRequiredException"},
		{"a stale parent", auth, "CreateCommit", `{"repositoryName":"shop","branchName":"main","parentCommitId":"0","putFiles":[]}`, "ParentCommitIdOutdatedException"},
		{"the default branch", auth, "DeleteBranch", `{"repositoryName":"shop","branchName":"main"}`, "DefaultBranchCannotBeDeletedException"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint(), strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", target+c.operation)
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		if c.auth != "" {
			r.Header.Set("Authorization", c.auth)
			r.Header.Set("X-Amz-Date", "20261120T091500Z")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !strings.Contains(string(body), c.want) || (answer.StatusCode == http.StatusOK) != strings.Contains(c.name, "good") {
			t.Errorf("%s: %d %s, want %s", c.name, answer.StatusCode, body, c.want)
		}
	}
}
