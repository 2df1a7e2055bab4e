//go:build aws

package archive

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

func TestABucketKeepsDrills(t *testing.T) {
	t.Parallel()
	server := moto.Start(t)
	client := sdk.NewFromConfig(server.Config(), func(o *sdk.Options) { o.UsePathStyle = true })
	now := time.Date(2026, 11, 20, 9, 20, 0, 0, time.UTC)
	buckets := 0
	open := func(t *testing.T) Archive {
		t.Helper()
		buckets++
		name := "drills-" + string(rune('a'+buckets))
		_, err := client.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: &name,
			CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(moto.Region)}})
		if err != nil {
			t.Fatal(err)
		}
		return Bucket{Name: name, Prefix: "gitlatch/", Client: client, Clock: func() time.Time { return now }}
	}
	suite(t, open, func(t *testing.T, l drill.Link) []byte {
		t.Helper()
		bucket, key, _ := strings.Cut(strings.TrimPrefix(l.URI, "s3://"), "/")
		if !strings.HasPrefix(key, "gitlatch/") || !l.Until.Equal(now.Add(openFor)) {
			t.Errorf("link %+v", l)
		}
		o, err := client.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Body.Close()
		want := map[string]string{"json": "application/json", "html": "text/html; charset=utf-8"}[l.Form]
		if aws.ToString(o.ContentType) != want {
			t.Errorf("%s is of type %s", l.URI, aws.ToString(o.ContentType))
		}
		data, err := io.ReadAll(o.Body)
		if err != nil {
			t.Fatal(err)
		}
		opened(t, l.URL, string(data))
		return data
	})
	_, err := Bucket{Name: "nowhere-at-all", Client: client}.Last(t.Context(), "prod")
	if err == nil || !strings.Contains(err.Error(), "create it, or correct drills") {
		t.Errorf("error %v", err)
	}
}

// opened requests a signed address and checks its content.
func opened(t *testing.T, url, want string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err != nil || string(got) != want || !strings.Contains(url, "X-Amz-Expires=3600") {
		t.Errorf("%s opens %q, %v", url, got, err)
	}
}
