package account

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// A call is an operation of EC2.
type call[In, Out any] func(context.Context, *In, ...func(*ec2.Options)) (*Out, error)

// clients has the operations of an EC2 client as functions. The command finds methods by
// name, so the linker keeps all methods of each type that the command converts to an
// interface. The client of the SDK has more than 700 methods, which add 24 MB.
type clients struct {
	reservations call[ec2.DescribeCapacityReservationsInput, ec2.DescribeCapacityReservationsOutput]
	instances    call[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput]
	offerings    call[ec2.DescribeInstanceTypeOfferingsInput, ec2.DescribeInstanceTypeOfferingsOutput]
	types        call[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput]
	subnets      call[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput]
}

func newEC2(config aws.Config) clients {
	c := ec2.NewFromConfig(config)
	return clients{
		reservations: c.DescribeCapacityReservations,
		instances:    c.DescribeInstances,
		offerings:    c.DescribeInstanceTypeOfferings,
		types:        c.DescribeInstanceTypes,
		subnets:      c.DescribeSubnets,
	}
}

func (c clients) DescribeCapacityReservations(
	ctx context.Context, in *ec2.DescribeCapacityReservationsInput, o ...func(*ec2.Options),
) (*ec2.DescribeCapacityReservationsOutput, error) {
	return c.reservations(ctx, in, o...)
}

func (c clients) DescribeInstances(
	ctx context.Context, in *ec2.DescribeInstancesInput, o ...func(*ec2.Options),
) (*ec2.DescribeInstancesOutput, error) {
	return c.instances(ctx, in, o...)
}

func (c clients) DescribeInstanceTypeOfferings(
	ctx context.Context, in *ec2.DescribeInstanceTypeOfferingsInput, o ...func(*ec2.Options),
) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	return c.offerings(ctx, in, o...)
}

func (c clients) DescribeInstanceTypes(
	ctx context.Context, in *ec2.DescribeInstanceTypesInput, o ...func(*ec2.Options),
) (*ec2.DescribeInstanceTypesOutput, error) {
	return c.types(ctx, in, o...)
}

func (c clients) DescribeSubnets(
	ctx context.Context, in *ec2.DescribeSubnetsInput, o ...func(*ec2.Options),
) (*ec2.DescribeSubnetsOutput, error) {
	return c.subnets(ctx, in, o...)
}
