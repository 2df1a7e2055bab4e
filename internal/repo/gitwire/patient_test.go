package gitwire

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// A server of SSH is watched for as long as it is spoken to, whatever it was at
// when it fell silent.
func TestAServerOfSSHThatFallsSilentIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &overSSH{
			address: address{"git", "silent.example", "22", "/site.git", "ssh://git@silent.example/site.git"},
			dial: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					if _, err := theirs.Write([]byte("SSH-2.0-silent\r\n")); err != nil {
						return
					}
					for buf := make([]byte, 1000); ; {
						if _, err := theirs.Read(buf); err != nil {
							return
						}
					}
				}()
				return ours, nil
			},
		}
		begun := time.Now()
		_, err := o.post(t.Context(), uploadPack, &request{}, true)
		if err == nil || !hopeless(err) || !strings.Contains(err.Error(), "said nothing for 30s") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(begun); took != answerWithin {
			t.Errorf("took %s", took)
		}
	})
}
