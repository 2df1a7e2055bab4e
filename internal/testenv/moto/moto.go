// Package moto starts moto for tests: one server that is a stand-in for EKS, SNS, SQS,
// Secrets Manager, STS and DynamoDB. It checks no permissions and no signatures. Its
// DynamoDB lets other requests in between the check of a condition and the write: of
// some hundred racing updates, two won.
package moto

import (
	_ "embed"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

//go:embed serve.py
var serve string

// Region is where the clients of Config are at home.
const Region = "eu-west-1"

// A Server is a moto that listens on loopback, with nothing in it at first.
type Server struct {
	URL string // http://127.0.0.1:<port>, the endpoint of every service
}

// Start starts a server, which ends with the test. It skips the test if
// Python or the package is not available; in CI it fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	dir := program.Folder(t, "moto, a stand-in for AWS", filepath.Join("scripts", "python", "venv.sh"))
	return &Server{URL: program.Serve(t, t.TempDir(), filepath.Join(dir, "bin", "python"), "-c", serve)}
}

// Config returns the configuration for the clients of all services.
func (s *Server) Config() aws.Config {
	return aws.Config{
		BaseEndpoint: aws.String(s.URL),
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "example", ""),
	}
}

// Reset empties the server, which keeps every request's traces in memory else.
func (s *Server) Reset(t testing.TB) {
	t.Helper()
	answer, err := http.Post(s.URL+"/moto-api/reset", "", nil)
	if err != nil {
		t.Fatalf("reset moto: %v", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("reset moto: %s", answer.Status)
	}
}
