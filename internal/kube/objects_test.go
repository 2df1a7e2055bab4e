package kube_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
)

// A missing object is not an error. An object that may not be read is.
func TestAnObjectThatDoesNotExist(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{http.StatusNotFound: "", http.StatusForbidden: "forbidden"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "argocd-cm", "reason": "` + strings.ReplaceAll(http.StatusText(code), " ", "") + `"}`))
		}))
		t.Cleanup(server.Close)
		objects, err := kube.NewObjects(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		data, err := objects.Get(t.Context(), "/api/v1/namespaces/argocd/configmaps/argocd-cm")
		if data != nil || (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d: %s, %v", code, data, err)
		}
	}
}
