package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
)

// coded reports whether an error of AWS has a code.
func coded(err error, code string) bool {
	var of smithy.APIError
	return errors.As(err, &of) && of.ErrorCode() == code
}

// cluster reads the authentication mode and the network of the cluster.
func (a AWS) cluster(ctx context.Context, name string, f *Facts) error {
	answer, err := eks.NewFromConfig(a.config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if coded(err, "ResourceNotFoundException") {
		return fmt.Errorf("--cluster: there is no EKS cluster %s in %s. To list the clusters, run \"aws eks list-clusters --region %[2]s\"", name, f.Region)
	}
	if err != nil {
		return fmt.Errorf("--cluster: describe the EKS cluster %s: %w", name, err)
	}
	cluster := answer.Cluster
	if f.Cluster, err = arn.Parse(aws.ToString(cluster.Arn)); err != nil {
		return fmt.Errorf("--cluster: describe the EKS cluster %s: its ARN: %w", name, err)
	}
	if cluster.Status != types.ClusterStatusActive {
		f.problem("wait until the cluster is ACTIVE", "The status of the EKS cluster %s is %s.", name, cluster.Status)
	}
	switch mode := modeOf(cluster); mode {
	case types.AuthenticationModeApi, types.AuthenticationModeApiAndConfigMap:
	case "":
		f.problem("check that the authentication mode is API or API_AND_CONFIG_MAP", "The authentication mode of the EKS cluster %s is unknown.", name)
	default:
		f.problem(fmt.Sprintf("aws eks update-cluster-config --region %s --name %s --access-config authenticationMode=API_AND_CONFIG_MAP", f.Region, name),
			"The authentication mode of the EKS cluster %s is %s, which has no access entries.", name, mode)
	}
	return a.reach(ctx, name, cluster.ResourcesVpcConfig, f)
}

func modeOf(cluster *types.Cluster) types.AuthenticationMode {
	if cluster.AccessConfig == nil {
		return ""
	}
	return cluster.AccessConfig.AuthenticationMode
}

// reach sets the network of the function. A function outside the VPC has no fixed address,
// so it can use only an endpoint that is open to all addresses.
func (a AWS) reach(ctx context.Context, name string, network *types.VpcConfigResponse, f *Facts) error {
	if network == nil || network.VpcId == nil {
		f.problem("set SubnetIds and SecurityGroupIds in samconfig.toml if the endpoint is private", "The network of the EKS cluster %s is unknown.", name)
		return nil
	}
	if network.EndpointPublicAccess && slices.Contains(network.PublicAccessCidrs, "0.0.0.0/0") {
		return nil
	}
	f.Network = Network{VPC: aws.ToString(network.VpcId), SecurityGroup: aws.ToString(network.ClusterSecurityGroupId)}
	routes, err := ec2.NewFromConfig(a.config).DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: []ec2types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{f.Network.VPC}},
	}})
	if err != nil {
		f.Network.Subnets = network.SubnetIds
		f.problem("allow ec2:DescribeRouteTables, or check that the subnets in samconfig.toml are private",
			"The routes of the subnets of %s could not be read: %v.", name, err)
		return nil
	}
	private, natless := routed(routes.RouteTables, network.SubnetIds)
	switch {
	case len(private) == 0:
		f.Network.Subnets = network.SubnetIds
		f.problem("set SubnetIds in samconfig.toml to private subnets with a NAT gateway",
			"The endpoint of the EKS cluster %s is not open to all addresses, so the function must run in %s, but the cluster has no private subnet.", name, f.Network.VPC)
	default:
		f.Network.Subnets = private
		if natless {
			f.problem("add a NAT gateway. For a CodeCommit repository, you can deploy infra/vpc-endpoints.yaml instead",
				"The private subnets of %s have no route to a NAT gateway, so the function cannot reach AWS and the git host.", name)
		}
	}
	return nil
}

// routed returns the subnets without a route to an internet gateway. If some of them have
// a route to a NAT gateway or a transit gateway, it returns only these, and natless is
// false.
func routed(tables []ec2types.RouteTable, subnets []string) (private []string, natless bool) {
	var out []string
	for _, subnet := range subnets {
		switch way := wayOf(tables, subnet); way {
		case public:
		case outward:
			out = append(out, subnet)
		default:
			private = append(private, subnet)
		}
	}
	if len(out) > 0 {
		return out, false
	}
	return private, len(private) > 0
}

// A way is the way of a subnet to the internet.
type way int

const (
	inward  way = iota // no default route
	outward            // a NAT gateway, a transit gateway or an instance
	public             // an internet gateway, which a function cannot use
)

// wayOf returns the way of a subnet. A subnet without a table uses the main table.
func wayOf(tables []ec2types.RouteTable, subnet string) way {
	var own, main *ec2types.RouteTable
	for i, t := range tables {
		for _, a := range t.Associations {
			if aws.ToString(a.SubnetId) == subnet {
				own = &tables[i]
			}
			if aws.ToBool(a.Main) {
				main = &tables[i]
			}
		}
	}
	if own == nil {
		own = main
	}
	if own == nil {
		return inward
	}
	for _, r := range own.Routes {
		if aws.ToString(r.DestinationCidrBlock) != "0.0.0.0/0" {
			continue
		}
		if gateway := aws.ToString(r.GatewayId); len(gateway) > 4 && gateway[:4] == "igw-" {
			return public
		}
		return outward
	}
	return inward
}
