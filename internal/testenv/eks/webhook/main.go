// Command webhook returns the identity of a token to an API server, like the control
// plane of EKS. Its arguments are the cluster's name, the region, and a file with the
// groups of each role. It prints its address, and ends with its input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	authentication "k8s.io/api/authentication/v1"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

func main() {
	cluster, region, access := os.Args[1], os.Args[2], os.Args[3]
	verifier := token.NewVerifier(cluster, "aws", region)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review authentication.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Status = status(verifier, access, review.Spec.Token)
		if err := json.NewEncoder(w).Encode(review); err != nil {
			log.Print(err)
		}
	}))
	defer server.Close()
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func status(verifier token.Verifier, access, shown string) authentication.TokenReviewStatus {
	who, err := verifier.Verify(shown)
	if err != nil {
		log.Print(err)
		return authentication.TokenReviewStatus{Error: "the token is not valid"}
	}
	groups := map[string][]string{}
	text, err := os.ReadFile(access)
	if err == nil {
		err = json.Unmarshal(text, &groups)
	}
	if err != nil {
		log.Print(err)
		return authentication.TokenReviewStatus{Error: "access entries cannot be read"}
	}
	of, ok := groups[who.CanonicalARN]
	if !ok {
		log.Printf("%s has no access entry", who.CanonicalARN)
		return authentication.TokenReviewStatus{}
	}
	return authentication.TokenReviewStatus{
		Authenticated: true,
		User:          authentication.UserInfo{Username: who.ARN, UID: who.UserID, Groups: of},
	}
}
