SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
comma := ,

# All is built and tested without C, as what ships is: with it each test that reaches
# kustomize, which can load plugins, is linked by gcc, in twice the time.
export CGO_ENABLED := 0

# golangci-lint is run, not required by go.mod, where it would bring hundreds of
# modules into everybody's go.sum.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GORELEASER := go tool -modfile=scripts/release/go.mod goreleaser
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Where our own Go is: .cache holds that of others.
GO_FOLDERS := functions internal scripts testdata

.PHONY: help
help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: bin/gitlatch ## Play a simulated day against a scratch repository
	@bin/gitlatch demo

# Tests of a package wait for clusters as often as they work, so that one package more
# than there are processors is tested at once, and the one that waits longest is begun
# first.
AT_ONCE = $$(($$(getconf _NPROCESSORS_ONLN) + 1))

.PHONY: test
test: ## Test everything, with a real control plane, Flux, Argo CD, Helm, Flagger and Karpenter's scheduler, which are built once (some minutes)
	@scripts/need.sh all
	@scripts/npm/install.sh >/dev/null
	@scripts/chromium/fetch.sh >/dev/null
	@scripts/python/venv.sh >/dev/null
	@scripts/controlplane/build.sh >/dev/null
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	@scripts/helm/build.sh >/dev/null
	@scripts/flagger/build.sh >/dev/null
	@scripts/karpenter/build.sh >/dev/null
	@scripts/charts/build.sh >/dev/null
	go vet ./...
	go -C scripts/gitlabapi test ./...
	go -C scripts/image test ./...
	go -C scripts/release test ./...
	go -C scripts/terraform test ./...
	go test -json -p $(AT_ONCE) -timeout 60m ./internal/tick ./... | go run ./scripts/summary
	@scripts/fuzz.sh 20s

# Many short tests wait for git or for a lock, so more of them run at once than there are
# processors. The tests that need more are skipped on purpose, also in CI.
.PHONY: test-short
test-short: ## Test what needs only Go and git, quickly
	@scripts/need.sh short
	go test -json -short -parallel 8 -timeout 5m ./... | CI= go run ./scripts/summary

.PHONY: fuzz
fuzz: ## Fuzz every target for a time each, a few at once (FUZZTIME=10m; what is found is kept as a test)
	@scripts/fuzz.sh $(or $(FUZZTIME),10m)

# at-length runs one test, and prints what it says but for the words of go test.
at-length = go test -v -count=1 -timeout 120m ./internal/$(1) | grep --line-buffered -vE '^(=== |--- PASS|PASS$$|ok )'

.PHONY: faults
faults: ## Test the promises of gitlatch against faults for over an hour: random histories, seeded defects, rollouts, a month, a crowd (HISTORIES=1000000 TICKS=1000000 LIVES=70000 DAYS=30; FIRST=1: the first seed of the simulator, drawn and printed by default)
	@$(call at-length,policy -run '^Test(HistoriesAgree|FreezesLose|LevelsAreMonotone|AFlushDeclares)' -histories $(or $(HISTORIES),1000000))
	@$(call at-length,proof/simulator -run '^TestRandomHistoriesBreakNoLaw$$' -ticks $(or $(TICKS),1000000) -first $(or $(FIRST),random))
	@$(call at-length,proof/simulator -run '^TestSeededDefectsAreFound$$' -defects)
	@$(call at-length,proof/rollouts -run '^TestWhatGitSaysOfRollouts$$' -lives $(or $(LIVES),70000))
	@$(call at-length,tick -run '^TestTenMishapsInARowAreNobodys$$')
	@$(call at-length,proof/days -run '^TestAMonthOfAThousandWorkloads$$' -days $(or $(DAYS),30))
	@$(call at-length,proof/crowd -run '^TestManyProcessesShareABranch$$' -processes 32 -crossings 2000 -rivals 500)

.PHONY: mutants
mutants: ## Change policy, tick, ledger and latch at random, and print the share of the changes that tests catch, and the others (MUTANTS=300; SEED=1: draw the same again, or continue; AGAIN=1: test only those that survived again)
	go run ./scripts/mutants -n $(or $(MUTANTS),300) -seed $(or $(SEED),0) $(if $(AGAIN),-again)

.PHONY: record-argo
record-argo: ## Take Rollouts through a real Argo Rollouts, and compare with what testdata/manifests recorded (UPDATE=1: record anew; the first build takes 10 minutes)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/argo/build.sh >/dev/null
	go test -count=1 -timeout 30m -parallel 8 -run '^TestArgoRollouts$$' ./internal/kube -argo $(if $(UPDATE),-update)

.PHONY: keda
keda: ## Test ScaledObjects with a real KEDA, from the sample to the release of a brake (the first build takes 10 minutes)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/keda/build.sh >/dev/null
	go test -count=1 -timeout 30m -run '^TestKEDA$$' ./internal/restore/cluster -keda

.PHONY: prometheus
prometheus: ## Test the metrics, the alerts and the queries of the dashboard with a real Prometheus and Pushgateway (the first build takes 10 minutes)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/prometheus/build.sh >/dev/null
	go test -count=1 -timeout 30m -run '^TestPrometheusFiresWhenTicksStop$$' ./internal/proof/incluster -prometheus

.PHONY: test-versions
test-versions: ## Test on Kubernetes 1.34 to 1.37, and update the table of tested versions (ONLY=1.35: on this version; the first build takes an hour)
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	@scripts/helm/build.sh >/dev/null
	@scripts/flagger/build.sh >/dev/null
	@scripts/keda/build.sh >/dev/null
	@scripts/charts/build.sh >/dev/null
	go test -v -count=1 -timeout 8h ./internal/proof/versions -run '^TestVersions$$' -versions -only '$(ONLY)'

.PHONY: kyverno
kyverno: ## Test the admission policy for clusters below Kubernetes 1.36 with a real Kyverno (the first build takes 20 minutes)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/kyverno/build.sh >/dev/null
	go test -count=1 -timeout 30m -run 'Kyverno$$' ./internal/gitops/ways -kyverno

.PHONY: fit
fit: ## Compare the answers whether a rebuild fits with Karpenter's scheduler and a real kube-scheduler, on 200 random fleets (FLEETS=160: with Karpenter, and a quarter as many without; SEED=1: the first seed, printed and drawn by default)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/karpenter/build.sh >/dev/null
	@$(call at-length,proof/fit -run '^TestFit$$' -fleets $(or $(FLEETS),160) -seed $(or $(SEED),0))

.PHONY: charts
charts: ## Count the replica counts that Helm, Argo CD and Flux reset in charts of four shapes, in 20 upgrades each (UPGRADES=20; the first build takes 10 minutes)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	@scripts/helm/build.sh >/dev/null
	@$(call at-length,proof/charts -run '^TestCharts$$' -upgrades $(or $(UPGRADES),20))

.PHONY: lint
lint: ## Lint Go, and the scripts where shellcheck is installed (the first run builds the linter: 5 minutes)
	@test -z "$$(gofmt -l $(GO_FOLDERS))" || { echo "not formatted, run make fmt:"; gofmt -l $(GO_FOLDERS); exit 1; }
	go run $(GOLANGCI_LINT) run
	@if command -v shellcheck >/dev/null; then shellcheck $$(git ls-files '*.sh') .ci/run; else echo "shellcheck is not installed: scripts were not linted"; fi

.PHONY: vulnerabilities
vulnerabilities: ## Look for known holes in what the programs call, of Go and of the modules (asks vuln.go.dev)
	go run $(GOVULNCHECK) ./...

FUNCTIONS := LatchFunction RestoreFunction RegionSwitchFunction DrillFunction FleetDispatcher FleetWorker

.PHONY: build
build: bin/gitlatch functions ## Build the command, and the Lambdas for arm64, into bin/

.PHONY: functions
functions:
	@for f in $(FUNCTIONS); do mkdir -p bin/$$f && $(MAKE) --no-print-directory build-$$f ARTIFACTS_DIR=bin/$$f; done

.PHONY: package
package: functions ## Write what deploys on AWS without Go or SAM to bin/package: zips of the Lambdas, and templates that take them from a bucket
	@rm -rf bin/package
	@go run ./scripts/package -from bin -o bin/package -version $(VERSION) template.yaml infra/drill.yaml infra/restore.yaml infra/fleet/template.yaml

# Go knows best what is out of date.
.PHONY: bin/gitlatch
bin/gitlatch:
	@go build -trimpath -o $@ ./functions/gitlatch

# What is built is said of the commit, whose time makes the same commit the same
# image.
VERSION = $(shell git describe --tags --always --dirty)
REVISION = $(shell git rev-parse HEAD)
CREATED = $(shell git log -1 --format=%cI)

.PHONY: image
image: ## Write the container image for amd64 and arm64 to bin/image, an OCI layout, without Docker (PUSH=registry.example.com/gitlatch:v1: push it, too)
	@for arch in amd64 arm64; do GOOS=linux GOARCH=$$arch go build -trimpath -ldflags "-s -w" -o bin/image-$$arch/gitlatch ./functions/gitlatch; done
	@rm -rf bin/image
	@go -C scripts/image run . -o $(CURDIR)/bin/image $(if $(PUSH),-push $(PUSH)) -version $(VERSION) -revision $(REVISION) -created $(CREATED) \
		amd64=$(CURDIR)/bin/image-amd64/gitlatch arm64=$(CURDIR)/bin/image-arm64/gitlatch

.PHONY: sbom
sbom: bin/cyclonedx-gomod ## Write an SBOM (CycloneDX) of each Lambda and of the programs in the image to bin/sbom, after make package image
	@mkdir -p bin/sbom
	@for f in $(FUNCTIONS); do bin/cyclonedx-gomod bin -json -noserial -notimestamp -std -output bin/sbom/$$f.cdx.json bin/$$f/bootstrap; done
	@for arch in amd64 arm64; do bin/cyclonedx-gomod bin -json -noserial -notimestamp -std -output bin/sbom/gitlatch-image_linux_$$arch.cdx.json bin/image-$$arch/gitlatch; done

bin/cyclonedx-gomod: scripts/release/go.mod
	@go -C scripts/release build -o $(CURDIR)/$@ github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

# The files of a release are in one folder, and SHA256SUMS names each of them.
collect = @rm -rf dist/release && mkdir dist/release && \
	cp dist/*.tar.gz dist/*.zip dist/*.cdx.json dist/SHA256SUMS bin/package/* bin/sbom/* bin/gitlatch-image.tar dist/release && \
	cd dist/release && sha256sum --check --quiet SHA256SUMS && \
	diff <(cut -c 67- SHA256SUMS | sort) <(ls | grep -vx SHA256SUMS | sort)

.PHONY: snapshot
snapshot: bin/cyclonedx-gomod ## Make all that a release contains in dist/release, sign it with a key for the test, and verify it (the first run builds goreleaser: some minutes)
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean
	$(collect)
	@scripts/release/sign.sh dist/release/SHA256SUMS

.PHONY: dist
dist: bin/cyclonedx-gomod ## Make the files of a release of the tag that is checked out in dist/release, without a signature
	$(GORELEASER) release --clean --skip=publish
	$(collect)

# sam build calls build-<LogicalId>. Without lambda.norpc the binary holds
# net/rpc for a runtime that is gone, and is a quarter larger.
bootstrap = GOOS=linux GOARCH=arm64 go build -trimpath -tags lambda.norpc -ldflags "-s -w" -o $(ARTIFACTS_DIR)/bootstrap

.PHONY: build-LatchFunction
build-LatchFunction:
	$(bootstrap) ./functions/latch

.PHONY: build-RestoreFunction
build-RestoreFunction:
	$(bootstrap) ./functions/restore

.PHONY: build-RegionSwitchFunction
build-RegionSwitchFunction:
	$(bootstrap) ./functions/regionswitch

.PHONY: build-DrillFunction
build-DrillFunction:
	$(bootstrap) ./functions/drill

.PHONY: build-FleetWorker
build-FleetWorker: build-LatchFunction

.PHONY: build-FleetDispatcher
build-FleetDispatcher:
	$(bootstrap) ./functions/dispatch

.PHONY: zip-size
zip-size: ## Print how large the Lambda is once it is packed
	@mkdir -p bin/LatchFunction
	@$(MAKE) --no-print-directory -s build-LatchFunction ARTIFACTS_DIR=bin/LatchFunction
	@go run ./scripts/zipsize bin/LatchFunction/bootstrap

.PHONY: bench
bench: ## Measure every figure beside what people would use instead, into testdata/bench (ten minutes of a quiet machine; ONLY=git, sample, state, memory, noise, fit or cold: that part, and nothing is written)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/npm/install.sh >/dev/null
	@go test ./internal/proof/bench -count=1 -timeout 60m -v -run '^TestFigures$$' -figures -only '$(ONLY)' | grep --line-buffered -vE '^(=== |PASS$$|ok )'

.PHONY: bench-cold
bench-cold: zip-size ## Measure a cold start of the Lambda: its size, package initialisation, spawn to first request
	@go run ./scripts/bench-cold

.PHONY: bench-rebuild
bench-rebuild: ## Measure rebuilds from git, with checkpoints and without, at Kubernetes' own pace (PODS=40: at that size; half an hour or more for all; METHODS=absent,limit,admission: these alone, one after the other; PROFILES=folder: profile the API server; LATE=15m: let the traffic come later, with brakes and without)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	@go -C internal/proof/rebuild test -count 1 -timeout 150m -run '^TestRebuild$$' -pods '$(or $(PODS),40$(comma)400$(comma)4000)' $(if $(METHODS),-methods '$(METHODS)') $(if $(PROFILES),-profiles '$(abspath $(PROFILES))') $(if $(LATE),-late $(LATE)) | grep --line-buffered -vE '^(PASS$$|ok )'

.PHONY: bench-inert
bench-inert: ## Let live clusters take 200 commits of checkpoints under Flux and Argo CD, and count what they scale (COMMITS=20)
	@scripts/controlplane/build.sh >/dev/null
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	GITLATCH_INERT_COMMITS=$(or $(COMMITS),200) go test -count=1 -timeout 120m -v -run '^(TestNoCommitOfACheckpointScalesALiveCluster|TestArgoCDAppliesTheCheckpointOnCreationOnly|TestASyncWhileAutoscalersMove)$$' ./internal/gitops/ways
	GITLATCH_TOOLS=all go test -count=1 -timeout 60m -v -run '^TestDoctorSaysWhatTheToolsDo$$' ./internal/doctor

.PHONY: bench-backtest
bench-backtest: bin/gitlatch ## Measure a backtest of 50 workloads over 90 days, minute by minute: samples a second, and memory
	@go run ./scripts/bench-backtest

.PHONY: bench-fleet
bench-fleet: ## Let 1,000 simulated sites share one real repository, and compare ways to divide it among them (some ten minutes)
	@go test ./internal/proof/fleet -timeout 90m -run '^$$' -bench '^BenchmarkFleet$$' -benchtime 1x | grep --line-buffered -vE '^(PASS$$|ok |goos:|goarch:|pkg:|cpu:|Benchmark)'

.PHONY: usage
usage: ## Compute the quantities that AWS charges for a site a month (ARGS="-set period_minutes=1"; names are in scripts/usage/usage.yaml)
	@go run ./scripts/usage $(ARGS)

.PHONY: prose
prose: ## Measure the text that users read (ARGS='-list handbook': list the patterns of the house dialect)
	@go run ./scripts/prose $(ARGS)

.PHONY: pictures
pictures: ## Make the pictures of the README from the real page of a drill
	@scripts/npm/install.sh >/dev/null
	@scripts/chromium/fetch.sh >/dev/null
	go test -count=1 ./internal/page -run '^TestInChromium$$/^pictures' -update

.PHONY: fmt
fmt: ## Format the Go files
	gofmt -w $(GO_FOLDERS)

.PHONY: clean
clean: ## Remove what was built; what the tests run on stays in .cache
	rm -rf bin dist .aws-sam
