package kube

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/redact"
)

// answerWithin is how long an API server may take for one answer, such as a page
// of a LIST, of which a busy one takes a second.
const answerWithin = 20 * time.Second

// Connect returns a client of the API server that config leads to, which accepts
// answers of some forms. The agent is what it is called where config does not say.
// Limits on the rate of requests that config does not state are raised over
// client-go's, which are meant for a controller; and a request has a timeout,
// which client-go's have not. It asks nothing of the cluster yet.
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
