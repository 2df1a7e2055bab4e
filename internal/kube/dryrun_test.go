package kube_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
)

// Each request of a DryRun is a CREATE that the API server does not store.
func TestADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		answer string
		want   string // part of the error; "" for none
	}{
		"admitted":         {http.StatusCreated, `{"kind": "Deployment", "apiVersion": "apps/v1"}`, ""},
		"an existing name": {http.StatusConflict, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "AlreadyExists", "code": 409, "message": "exists"}`, ""},
		"refused":          {http.StatusUnprocessableEntity, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422, "message": "at most 45 replicas"}`, "at most 45 replicas"},
		"another conflict": {http.StatusConflict, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409, "message": "changed"}`, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = append(sent, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			}))
			t.Cleanup(server.Close)
			d, err := kube.NewDryRun(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			err = d.Create(t.Context(), "/apis/apps/v1/namespaces/shop/deployments", []byte(`{"kind":"Deployment"}`))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			const want = `POST /apis/apps/v1/namespaces/shop/deployments?dryRun=All&timeout=20s application/json {"kind":"Deployment"}`
			if len(sent) != 1 || sent[0] != want {
				t.Errorf("sent %q", sent)
			}
		})
	}
}
