package eks

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Region is where everything is.
const Region = "eu-west-1"

// A Server is the endpoint of STS and of EKS. It knows no permissions but those
// that are denied, and that a cluster is seen in its own account only.
type Server struct {
	URL string // http://127.0.0.1:<port>

	mu        sync.Mutex
	keys      map[string]principal // by access key
	roles     map[string]string    // external id by the ARN of a role that can be assumed
	clusters  map[string]Cluster   // by name
	denied    map[string]bool      // by action
	requested map[string]int       // by action
}

// A principal is whom a key belongs to.
type principal struct {
	arn    string
	secret string
	token  string // of the session; "" without one
}

// account returns the account that a principal is of.
func account(arn string) string { return strings.Split(arn, ":")[4] }

// A Cluster is the description of a cluster in EKS.
type Cluster struct {
	Account  string // "" is the account of the caller
	Status   string // "" is ACTIVE
	Endpoint string
	CA       []byte // PEM
	Private  bool
}

// Start starts a server without any principals. It ends with its test.
func Start(t testing.TB) *Server {
	s := &Server{
		keys: map[string]principal{}, roles: map[string]string{}, clusters: map[string]Cluster{},
		denied: map[string]bool{}, requested: map[string]int{},
	}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.URL = listening.URL
	return s
}

// Key returns a new key of a principal, such as
// arn:aws:sts::123456789012:assumed-role/latch/session.
func (s *Server) Key(arn string) aws.Credentials {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := principal{arn: arn, secret: rand.Text(), token: rand.Text() + "/+="}
	key := "ASIA" + rand.Text()[:16]
	s.keys[key] = p
	return aws.Credentials{AccessKeyID: key, SecretAccessKey: p.secret, SessionToken: p.token}
}

// Forget takes a key back.
func (s *Server) Forget(key aws.Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key.AccessKeyID)
}

// Rotate gives a key another secret and does not return it.
func (s *Server) Rotate(key aws.Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.keys[key.AccessKeyID]
	p.secret = rand.Text()
	s.keys[key.AccessKeyID] = p
}

// Config returns what clients are made of that show a key.
func (s *Server) Config(key aws.Credentials) aws.Config {
	return aws.Config{
		Region:       Region,
		BaseEndpoint: aws.String(s.URL),
		Credentials:  credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, key.SessionToken),
	}
}

// Environment is Config as variables for a separate program.
func (s *Server) Environment(key aws.Credentials) []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + key.SessionToken,
		"AWS_ENDPOINT_URL_EKS=" + s.URL,
		"AWS_ENDPOINT_URL_STS=" + s.URL,
	}
}

// Role lets everybody assume a role with the external id.
func (s *Server) Role(arn, externalID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roles[arn] = externalID
}

// Describe makes a cluster, or changes it.
func (s *Server) Describe(name string, c Cluster) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters[name] = c
}

// Deny denies an action, such as eks:DescribeCluster, to everybody.
func (s *Server) Deny(action string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[action] = true
}

// Requested returns the number of requests for an action.
func (s *Server) Requested(action string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requested[action]
}

// ServeHTTP answers as STS and EKS do.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	name, describes := strings.CutPrefix(r.URL.Path, "/clusters/")
	action := "sts:" + r.Form.Get("Action")
	if describes {
		action = "eks:DescribeCluster"
	}
	s.requested[action]++
	who, err := s.caller(r, body)
	if err == nil && s.denied[action] {
		err = failure{http.StatusForbidden, "AccessDenied", fmt.Sprintf("User: %s is not authorized to perform: %s", who.arn, action)}
	}
	switch {
	case describes:
		s.describe(w, who, name, err)
	default:
		s.sts(w, r, who, err)
	}
}

// A failure is an error response.
type failure struct {
	status        int
	code, message string
}

func (f failure) Error() string { return f.code + ": " + f.message }

// soon is when the keys of a role expire.
func soon(r *http.Request) time.Time {
	seconds, err := time.ParseDuration(r.Form.Get("DurationSeconds") + "s")
	if err != nil {
		seconds = time.Hour
	}
	return time.Now().Add(seconds).UTC()
}
