package kube

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
)

// answerWithin is the timeout of one answer of an API server, such as a page of a LIST. A
// busy API server takes a second for a page.
const answerWithin = 20 * time.Second

// Connect returns a client of the API server in config. accept is the Accept header, and
// agent is the user agent if config does not set one. If config has no rate limits, they
// are higher than client-go's defaults, which suit a controller. If config has no
// timeout, it is answerWithin. Connect sends no request.
func Connect(config *rest.Config, agent, accept string) (rest.Interface, error) {
	own := rest.CopyConfig(config)
	own.NegotiatedSerializer = codecs
	own.AcceptContentTypes, own.ContentType = accept, "application/json"
	own.WarningHandler = rest.NoWarnings{}
	own.UserAgent = cmp.Or(own.UserAgent, agent)
	own.Timeout = cmp.Or(own.Timeout, answerWithin)
	if own.RateLimiter == nil && own.QPS == 0 {
		own.QPS, own.Burst = 50, 100
	}
	own.Wrap(func(next http.RoundTripper) http.RoundTripper { return redact.Transport(bounded{next}) })
	client, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("open the cluster: %w", err)
	}
	return client, nil
}
