package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/drill"
)

// openFor is the validity of a signed address, which opens a report for everyone. An
// address that a role signs expires with the credentials of the role, which may be
// earlier.
const openFor = time.Hour

// A Bucket of Amazon S3 saves reports under <prefix><site>/.
type Bucket struct {
	Name, Prefix string
	Client       *s3.Client
	Clock        func() time.Time
}

// Save writes the page and the document, and then the document as the last one.
func (b Bucket) Save(ctx context.Context, d drill.Document, page []byte) ([]drill.Link, error) {
	links, files, err := filesOf(d, page, func(name string) string { return "s3://" + b.Name + "/" + b.key(d.Site, name) })
	if err != nil {
		return nil, fmt.Errorf("save the drill: %w", err)
	}
	for _, o := range files {
		_, err := b.Client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: aws.String(b.Name), Key: aws.String(b.key(d.Site, o.name)),
			Body: bytes.NewReader(o.data), ContentType: aws.String(o.mime),
		})
		if err != nil {
			return nil, b.explain("save the drill", o.name, err)
		}
	}
	d.Links = links
	return b.opened(ctx, d)
}

// opened adds a signed address to each link.
func (b Bucket) opened(ctx context.Context, d drill.Document) ([]drill.Link, error) {
	signer := s3.NewPresignClient(b.Client, s3.WithPresignExpires(openFor))
	for i, l := range d.Links {
		signed, err := signer.PresignGetObject(ctx,
			&s3.GetObjectInput{Bucket: aws.String(b.Name), Key: aws.String(b.key(d.Site, fileName(d.At, l.Form)))})
		if err != nil {
			return d.Links, fmt.Errorf("sign the address of %s: %w", l.URI, err)
		}
		d.Links[i].URL, d.Links[i].Until = signed.URL, b.Clock().UTC().Add(openFor).Truncate(time.Second)
	}
	return d.Links, nil
}

// Last gets the last document.
func (b Bucket) Last(ctx context.Context, site string) (*drill.Document, error) {
	answer, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(b.Name), Key: aws.String(b.key(site, latest))})
	var said smithy.APIError
	if errors.As(err, &said) && said.ErrorCode() == "NoSuchKey" {
		return nil, nil
	}
	if err != nil {
		return nil, b.explain("read the last drill", latest, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, largest))
	if err != nil {
		return nil, b.explain("read the last drill", latest, err)
	}
	d, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read the last drill: s3://%s/%s: %w; delete it", b.Name, b.key(site, latest), err)
	}
	return d, nil
}

// largest is the limit of a document in bytes. A document of 10,000 workloads is smaller.
const largest = 64 << 20

func (b Bucket) key(site, name string) string { return b.Prefix + site + "/" + name }

// remedies are the solutions to errors of S3, by error code.
var remedies = map[string]string{
	"NoSuchBucket":      "the bucket does not exist in this region: create it, or correct drills",
	"AccessDenied":      "allow the role s3:PutObject and s3:GetObject on the prefix, and s3:ListBucket on the bucket. If the bucket has a KMS key, allow the role kms:GenerateDataKey and kms:Decrypt on the key",
	"PermanentRedirect": "the bucket is in another region: use a bucket of the region in which gitlatch runs",
}

func (b Bucket) explain(doing, name string, err error) error {
	var said smithy.APIError
	if errors.As(err, &said) && remedies[said.ErrorCode()] != "" {
		return fmt.Errorf("%s: bucket %s, %s: %s (%w)", doing, b.Name, name, remedies[said.ErrorCode()], err)
	}
	return fmt.Errorf("%s: bucket %s, %s: %w", doing, b.Name, name, err)
}
