// A description of GitLab's API, made from the types of GitLab's own Go client. A module
// of its own, so that the product's go.mod stays free of the client.
module github.com/gitlatch/gitlatch/scripts/gitlabapi

go 1.26.0

require gitlab.com/gitlab-org/api/client-go v1.46.0

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	golang.org/x/oauth2 v0.34.0 // indirect
	golang.org/x/time v0.14.0 // indirect
)
