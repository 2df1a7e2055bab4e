package config

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// EKS is a cluster of Amazon EKS. The zero value is none.
type EKS struct {
	Name       string
	Region     string // "" is the region that the program runs in
	RoleARN    string // assumed before it is asked for, as in another account; "" is none
	ExternalID string // that the role wants shown; "" is none
}

// DynamoDB is a table of Amazon DynamoDB. The zero value is none.
type DynamoDB struct {
	Table  string
	Region string // "" is the region that the program runs in
}

// CodeCommit is a repository of AWS CodeCommit. The zero value is none.
type CodeCommit struct {
	Name   string
	Region string // "" is the region that the program runs in
}

// GitHub is a repository of GitHub. The zero value is none. One of the secrets
// is set, by its name or ARN in AWS Secrets Manager.
type GitHub struct {
	Repository  string // owner/name
	APIURL      string // of a GitHub Enterprise server; "" is that of github.com
	AppSecret   string // holds the key of a GitHub App
	TokenSecret string // holds a fine-grained access token
}

// SNS is a topic of Amazon SNS. The zero value is none.
type SNS struct {
	TopicARN string // its region is that of the topic
}

// S3 is a bucket of Amazon S3. The zero value is none.
type S3 struct {
	Bucket string
	Prefix string // of all keys, with the slash at its end; "" is none
	Region string // "" is the region that the program runs in
}

func regionField(into *string) field {
	return field{"region", "the AWS region; without it the one that the program runs in", false,
		text{into: into, pattern: `^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`, must: "an AWS region such as eu-west-1"}}
}

func eksFields(e *EKS) object {
	return object{
		fields: []field{
			{"name", "the cluster's name", true,
				text{into: &e.Name, pattern: `^[0-9A-Za-z][-0-9A-Za-z_]{0,99}$`, must: "the name of an EKS cluster: letters, digits, - and _, at most 100"}},
			regionField(&e.Region),
			{"roleArn", "the role to assume first, where the cluster is another account's", false,
				text{into: &e.RoleARN, pattern: `^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[-A-Za-z0-9_+=,.@/]+$`, must: "the ARN of a role, such as arn:aws:iam::123456789012:role/gitlatch"}},
			{"externalId", "what the role wants shown by who assumes it", false,
				text{into: &e.ExternalID, pattern: `^[-A-Za-z0-9_+=,.@:/]{2,}$`, must: "an external id: letters, digits and any of +=,.@:/-_"}},
		},
		rules: []rule{companion{name: "externalId", of: []string{"roleArn"}, reason: "it is shown when a role is assumed"}},
	}
}

func dynamoFields(d *DynamoDB) object {
	return object{fields: []field{
		{"table", "the table's name", true,
			text{into: &d.Table, pattern: `^[-A-Za-z0-9_.]{3,255}$`, must: "the name of a table: 3 to 255 letters, digits, -, _ and ."}},
		regionField(&d.Region),
	}}
}

func codecommitFields(c *CodeCommit) object {
	return object{fields: []field{
		{"name", "the repository's name", true,
			text{into: &c.Name, pattern: `^[-A-Za-z0-9_.]{1,100}$`, must: "the name of a repository: letters, digits, -, _ and ., at most 100"}},
		regionField(&c.Region),
	}}
}

func githubFields(g *GitHub) object {
	const literal = "must not stand in this file: put it into AWS Secrets Manager, and the secret's name into appSecret or tokenSecret"
	return object{
		fields: []field{
			{"repository", "owner/name", true,
				text{into: &g.Repository, pattern: `^[-A-Za-z0-9_]{1,100}/[-A-Za-z0-9_.]{1,100}$`, must: "owner/name, without a URL around it"}},
			{"apiURL", "the API's URL of a GitHub Enterprise server, such as https://github.example.com/api/v3/", false,
				text{into: &g.APIURL, pattern: `^https?://`, must: "an https URL", check: wrongAPIURL}},
			{"appSecret", "the secret in AWS Secrets Manager that holds the key of a GitHub App", false, secretName{&g.AppSecret}},
			{"tokenSecret", "the secret in AWS Secrets Manager that holds a fine-grained access token", false, secretName{&g.TokenSecret}},
			{"token", "", false, refused(literal)},
			{"privateKey", "", false, refused(literal)},
		},
		rules: []rule{choice{[]string{"appSecret", "tokenSecret"}, true}},
	}
}

func snsFields(s *SNS) object {
	return object{fields: []field{
		{"topicArn", "the topic's ARN", true,
			text{into: &s.TopicARN, pattern: `^arn:aws(-[a-z]+)*:sns:[-a-z0-9]+:[0-9]{12}:[-A-Za-z0-9_]{1,256}$`, must: "the ARN of a standard topic, such as arn:aws:sns:eu-west-1:123456789012:gitlatch"}},
	}}
}

func s3Fields(s *S3) object {
	return object{fields: []field{
		{"bucket", "the bucket's name", true,
			text{into: &s.Bucket, pattern: `^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`, must: "the name of a bucket: 3 to 63 small letters, digits, - and ."}},
		{"prefix", "what all keys begin with, such as gitlatch/", false,
			text{into: &s.Prefix, pattern: `^([-A-Za-z0-9_.]+/)+$`, must: "folders with a slash after each, such as gitlatch/drills/"}},
		regionField(&s.Region),
	}}
}

// wrongAPIURL says what is wrong with the URL of an API: what is wrong with a
// repository's, which it otherwise is like.
func wrongAPIURL(s string) string {
	if wrong := wrongURL(strings.TrimSuffix(s, "/") + "/"); wrong != "" {
		return strings.NewReplacer(
			"such as https://git.example.com/team/site.git", "such as https://github.example.com/api/v3/",
			"name them in repository.auth", "name a secret in appSecret or tokenSecret",
		).Replace(wrong)
	}
	return ""
}

// A secretName is the name or ARN of a secret in AWS Secrets Manager. What
// looks like the secret itself is refused, and no message shows the value.
type secretName struct{ into *string }

// A token of GitHub begins with a word and an underscore; a key has dashes first
// and more than one line.
const (
	secretNameShape = `^[A-Za-z0-9/_+=.@][-A-Za-z0-9/_+=.@:]*$`
	tokenShape      = `^(gh[a-z]|github_pat)_`
)

func (v secretName) read(r *reader, path string, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || !regexp.MustCompile(secretNameShape).MatchString(n.Value) || regexp.MustCompile(tokenShape).MatchString(n.Value) {
		r.report(path, "must be the name or ARN of a secret in AWS Secrets Manager; the secret itself never stands in this file")
		return
	}
	*v.into = n.Value
}

func (v secretName) schema() schema {
	return schema{"type": "string", "pattern": secretNameShape, "not": schema{"pattern": tokenShape}}
}
