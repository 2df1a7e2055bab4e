package account

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// The command would link all operations of EC2.
func TestTheClientHasOnlyTheOperationsThatAreUsed(t *testing.T) {
	t.Parallel()
	of := New(aws.Config{}, "prod").EC2
	if got, want := reflect.TypeOf(of).NumMethod(), reflect.TypeFor[EC2]().NumMethod(); got != want {
		t.Errorf("%T has %d methods, want %d", of, got, want)
	}
}
