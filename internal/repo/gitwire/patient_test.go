package gitwire

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func TestAHostThatNeverAnswersIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := Patient().Clone()
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				for buf := make([]byte, 1000); ; {
					if _, err := theirs.Read(buf); err != nil {
						return
					}
				}
			}()
			return ours, nil
		}
		h := &smartHTTP{url: "http://silent.example/site.git", client: &http.Client{Transport: transport}}
		body, err := h.get(t.Context(), uploadPack)
		if err == nil {
			body.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "timeout awaiting response headers") {
			t.Errorf("error %v", err)
		}
		transport.CloseIdleConnections()
	})
}
