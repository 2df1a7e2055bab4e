package eks

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/oauth2"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

const (
	// tokenLives is how long a cluster accepts a token after it was signed.
	tokenLives = 15 * time.Minute
	// tokenUsed is how long a token is used. It is shorter than tokenLives, because the
	// cluster refuses a request whose token expires before it arrives.
	tokenUsed = tokenLives - time.Minute
	// roleAssumed is the maximum duration of a session of a role that another role
	// assumes.
	roleAssumed = time.Hour
)

// A tokens signs tokens, and caches a token until shortly before it expires.
type tokens struct {
	sign  func() (string, error)
	clock func() time.Time

	mu    sync.Mutex
	token string
	until time.Time
}

// Token returns a token that is valid for at least one minute.
func (t *tokens) Token() (*oauth2.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	if t.token == "" || !now.Before(t.until) {
		signed, err := t.sign()
		if err != nil {
			return nil, fmt.Errorf("sign a token: %w", err)
		}
		t.token, t.until = signed, now.Add(tokenUsed)
	}
	return &oauth2.Token{AccessToken: t.token}, nil
}

// forget makes the next request use a new token.
func (t *tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = ""
}

// wrap returns a transport that adds a token to each request.
func (t *tokens) wrap(base http.RoundTripper) http.RoundTripper {
	return &oauth2.Transport{Source: t, Base: base}
}

// signer returns a function that signs tokens for a cluster. A token is a signed request
// to STS that the cluster sends, not this program. It must therefore name a public
// endpoint of STS, even if another endpoint is configured for this program.
func signer(config aws.Config, cluster string) func() (string, error) {
	client := sts.NewFromConfig(config, func(o *sts.Options) { o.BaseEndpoint = nil })
	return func() (string, error) {
		generator, err := token.NewGenerator(false, false)
		if err != nil {
			return "", err
		}
		signed, err := generator.GetWithSTS(cluster, client)
		return signed.Token, err
	}
}

// assume returns the configuration of the role. It renews the credentials while they are
// still valid for longer than any token that they sign.
func assume(config aws.Config, o Options) aws.Config {
	provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(config), o.RoleARN, func(p *stscreds.AssumeRoleOptions) {
		p.RoleSessionName = session(o.Site)
		p.Duration = roleAssumed
		p.ExternalID = aws.String(externalID(o.Site))
	})
	config = config.Copy()
	config.Credentials = aws.NewCredentialsCache(provider, func(c *aws.CredentialsCacheOptions) { c.ExpiryWindow = tokenLives })
	return config
}

// externalID returns the external ID of a site. A role that requires it serves no other
// site, even if the list of a fleet names it by mistake.
func externalID(site string) string { return "gitlatch/" + site }

// session returns the session name of the role, as in CloudTrail: at most 64 characters.
func session(site string) string {
	name := "gitlatch-" + site
	return name[:min(len(name), 64)]
}
