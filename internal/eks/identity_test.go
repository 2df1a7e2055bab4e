package eks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// A mute is an STS client whose calls never return an answer.
type mute struct{}

func (mute) GetCallerIdentity(ctx context.Context, _ *sts.GetCallerIdentityInput, _ ...func(*sts.Options)) (*sts.GetCallerIdentityOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Only the text of an error needs the caller's identity. The error is complete even if
// the identity is unknown.
func TestAnErrorIsSaidThoughNobodySaysWhoAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Cluster{options: Options{Name: "prod-eu", Region: "eu-west-1"}, caller: mute{}}
		refused := errors.New("unauthorized")
		err := c.noAccess(t.Context(), refused)
		if !errors.Is(err, refused) || !strings.Contains(err.Error(), "--principal-arn ROLE --kubernetes-groups gitlatch:samplers") {
			t.Errorf("error %v", err)
		}
	})
}
