package gateway_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
)

// A stand-in closes a connection that was idle for some seconds, just when a busy
// machine sends the next call.
func TestACallNeedsNoConnectionOfAnEarlierCall(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, map[string]string{"dynamodb": answersOnce(t)})
	for i := range 3 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20261120/eu-west-1/dynamodb/aws4_request, SignedHeaders=host")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("call %d: %s, %v", i+1, answer.Status, err)
		}
	}
}

// answersOnce is the address of a server that answers one request of a connection,
// and closes it when the second one comes.
func answersOnce(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerOnce(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

func answerOnce(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	r, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	if _, err := from.Discard(int(r.ContentLength)); err != nil {
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")); err != nil {
		return
	}
	_, _ = http.ReadRequest(from)
}
