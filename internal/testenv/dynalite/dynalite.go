// Package dynalite starts dynalite for tests: a stand-in for DynamoDB that enforces
// conditions, keys and limits as DynamoDB does. It has no transactions, and does not
// return the item if a condition fails.
package dynalite

import (
	_ "embed"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

//go:embed serve.js
var serve string

// A Server is a dynalite that listens on loopback, without tables at first.
type Server struct {
	URL string // http://127.0.0.1:<port>
}

// Start starts a server, which ends with the test. It skips the test if
// node or the package is not available; in CI it fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	dir := program.Folder(t, "dynalite, a stand-in for DynamoDB", filepath.Join("scripts", "npm", "install.sh"))
	return &Server{URL: program.Serve(t, dir, "node", "--eval", serve)}
}

// Client returns a client of the server.
func (s *Server) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(s.URL),
		Region:       "eu-west-1",
		Credentials:  credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "example", ""),
	}, options...)
}
