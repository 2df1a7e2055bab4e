package kube

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

func TestAServerThatNeverAnswersIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(&rest.Config{Host: "http://silent.example", Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				for buf := make([]byte, 1000); ; {
					if _, err := theirs.Read(buf); err != nil {
						return
					}
				}
			}()
			return ours, nil
		}}, Options{Site: "prod-eu", Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Sample(t.Context(), nil)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "reach the API server at http://silent.example: ") {
			t.Errorf("error %v", err)
		}
	})
}
