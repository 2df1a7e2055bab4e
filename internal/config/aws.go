package config

import (
	"strings"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// EKS is a cluster of Amazon EKS. The zero value is not configured.
type EKS struct {
	Name    string
	Region  string // "" is the region in which the program runs
	RoleARN string // role to assume before the login, such as a role in another account; "" assumes no role
	ARN     string // "" if the configuration has only the name, in the account of the login
}

// regionField returns the field for the Region of a resource.
func regionField(region *string, resource string) yamldoc.Field {
	return yamldoc.Optional("region", "AWS Region of the "+resource+"; the default is the Region in which gitlatch runs",
		yamldoc.Into(region, yamldoc.Text(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`, "an AWS region such as eu-west-1")))
}

const (
	eksMeaning  = "name or ARN of an Amazon EKS cluster that gitlatch accesses with AWS credentials; if you set a name, the cluster must be in the Region where gitlatch runs"
	roleMeaning = "ARN of the IAM role that gitlatch assumes for a cluster in another AWS account; the external ID is `gitlatch/`, followed by the name of the site"
)

var (
	cluster = yamldoc.Text(`^(arn:aws(-[a-z]+)*:eks:[-a-z0-9]+:[0-9]{12}:cluster/)?[0-9A-Za-z][-0-9A-Za-z_]*$`,
		"the name of an EKS cluster, or its ARN, such as arn:aws:eks:eu-west-1:123456789012:cluster/prod").AtMost(200)
	role  = yamldoc.Text(`^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[-A-Za-z0-9_+=,.@/]+$`, "the ARN of a role, such as arn:aws:iam::123456789012:role/gitlatch")
	table = yamldoc.Text(`^(arn:aws(-[a-z]+)*:dynamodb:[-a-z0-9]+:[0-9]{12}:table/)?[-A-Za-z0-9_.]{3,}$`,
		"the name of a table, or its ARN, such as arn:aws:dynamodb:eu-west-1:123456789012:table/gitlatch").AtMost(400)
	topic = yamldoc.Text(`^arn:aws(-[a-z]+)*:sns:[-a-z0-9]+:[0-9]{12}:[-A-Za-z0-9_]+$`, "the ARN of a standard topic, such as arn:aws:sns:eu-west-1:123456789012:gitlatch").AtMost(320)

	bucketName   = yamldoc.Text(`^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`, "the name of a bucket")
	bucketPrefix = yamldoc.Text(`^([-A-Za-z0-9_.]+/)+$`, "folders with a slash after each")
)

// eksName binds the name and the Region of an EKS cluster, from its name or its ARN.
func eksName(into *EKS) yamldoc.Scalar {
	return yamldoc.Taken(cluster, func(text string) {
		into.Name = text
		if fields := strings.Split(text, ":"); len(fields) > 1 {
			into.ARN = text
			into.Region = fields[3]
			into.Name = strings.TrimPrefix(fields[5], "cluster/")
		}
	})
}
