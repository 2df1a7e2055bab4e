package wiring

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

func TestAServiceThatNeverAnswersIsNotWaitedForForEver(t *testing.T) {
	isolated(t, "eu-west-1")
	o := opener(t, "state: {dynamodb: gitlatch}\nrepository: {url: '"+onCodeCommit+"'}")
	synctest.Test(t, func(t *testing.T) {
		own, err := o.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		client := own.HTTPClient.(*awshttp.BuildableClient).WithTransportOptions(func(t *http.Transport) {
			t.DisableKeepAlives = true
			t.DialContext = func(context.Context, string, string) (net.Conn, error) {
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
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://silent.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err == nil {
			answer.Body.Close()
		}
		var failure net.Error // its text depends on which of two timers is first
		if !errors.As(err, &failure) || !failure.Timeout() {
			t.Errorf("error %v", err)
		}
	})
}
