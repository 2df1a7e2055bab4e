// The modules whose Helm charts the tests render. A separate module keeps the product's
// go.mod free of them.
module github.com/gitlatch/gitlatch/scripts/charts

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/kyverno/kyverno v1.19.1
	k8s.io/ingress-nginx v0.0.0-20240708192948-52c50467d67d
	sigs.k8s.io/external-dns v0.20.0
	sigs.k8s.io/karpenter v1.14.1
	sigs.k8s.io/metrics-server v0.9.0
)
