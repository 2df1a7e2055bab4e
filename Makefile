SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# All is built and tested without C, as what ships is: with it each test that reaches
# kustomize, which can load plugins, is linked by gcc, in twice the time.
export CGO_ENABLED := 0

# Tools of developers are run by their version. go.mod does not require them, because they
# would bring hundreds of modules into everybody's go.sum.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
export GOTESTSUM := gotest.tools/gotestsum@v1.13.0
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Where our own Go is: .cache holds that of others.
GO_FOLDERS := functions internal scripts testdata

# The build tags of all tests: the parts of make test-all, and the tests of the night.
comma := ,
TAGS := cluster,gitops,aws,pages,long,early,keda,argo,prometheus

# The targets of everyday use have a summary. The others search for defects, measure, release,
# or run the tests of a night.
.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What developers build shares the cache of the tests. With -trimpath, Go compiles each
# package again, so only what is deployed has it. The dry run of a release in
# scripts/release sets another compiler and other folders.
COMPILE := go build -trimpath -ldflags "-s -w"
BIN := bin
DIST := dist

.PHONY: demo
demo: ## Play a simulated day against a scratch repository
	@go build -o bin/demo ./scripts/demo
	@bin/demo

# Many short tests wait for git or for a lock, so more of them run at once than there are
# processors.
.PHONY: test
test: ## Run the tests that need only Go and git, in minutes
	@scripts/need.sh test
	@go run $(GOTESTSUM) --format-hide-empty-pkg -- -parallel 8 -timeout 20m ./...
	@echo "$$(scripts/part.sh count) more test functions need a cluster, GitOps tools, emulators of AWS, a browser or more time: make test-all"

.PHONY: test-all
test-all: test test-cluster test-gitops test-aws test-pages test-long ## Run all tests; the first run builds Kubernetes, Flux, Argo CD and Helm

# A part first lists what the machine lacks, and then builds or installs its own programs.
.PHONY: test-cluster test-gitops test-aws test-pages
test-cluster: PROGRAMS = controlplane/build.sh
test-gitops: PROGRAMS = controlplane/build.sh flux/build.sh argocd/build.sh helm/build.sh flagger/build.sh
test-aws: PROGRAMS = npm/install.sh python/venv.sh controlplane/build.sh
test-pages: PROGRAMS = npm/install.sh chromium/fetch.sh
test-cluster test-gitops test-aws test-pages: test-%:
	@scripts/need.sh $*
	@for program in $(PROGRAMS); do scripts/$$program >/dev/null; done
	@scripts/part.sh $*

# The tests of make test with more random histories, the tests that take longer, the tools
# in modules of their own, and a short run of each fuzz target.
.PHONY: test-long
test-long:
	@scripts/need.sh long
	@go vet -tags '$(TAGS)' ./...
	go test ./internal/policy -histories 20000
	go test ./internal/tick -run '^Test(RandomHistories|TenMishaps)' -histories 150
	go test ./internal/proof/simulator -run '^TestRandomHistoriesBreakNoLaw$$' -ticks 10000
	@scripts/part.sh long
	go -C scripts/gitlabapi test ./...
	go -C scripts/image test ./...
	go -C scripts/release test ./...
	go -C scripts/terraform test ./...
	@scripts/fuzz.sh 20s

.PHONY: fuzz
fuzz:
	@scripts/fuzz.sh $(or $(FUZZTIME),10m)

# at-length runs one test, and prints what it says but for the words of go test.
at-length = go test -tags '$(TAGS)' -v -count=1 -timeout 120m ./internal/$(1) | grep --line-buffered -vE '^(=== |--- PASS|PASS$$|ok )'

.PHONY: faults
faults:
	@$(call at-length,policy -run '^Test(HistoriesAgree|FreezesLose|LevelsAreMonotone|AFlushDeclares)' -histories $(or $(HISTORIES),1000000))
	@$(call at-length,proof/simulator -run '^TestRandomHistoriesBreakNoLaw$$' -ticks $(or $(TICKS),1200000) -first $(or $(FIRST),random))
	@$(call at-length,proof/simulator -run '^TestSeededDefectsAreFound$$' -defects)
	@$(call at-length,proof/rollouts -run '^TestWhatGitSaysOfRollouts$$' -lives $(or $(LIVES),70000))
	@$(call at-length,tick -run '^TestTenMishapsInARowAreNobodys$$')
	@$(call at-length,proof/days -run '^TestAMonthOfAThousandWorkloads$$' -days $(or $(DAYS),30))
	@$(call at-length,proof/crowd -run '^TestManyProcessesShareABranch$$' -processes 32 -crossings 2000 -rivals 500)

# gremlins copies the folder of the module for each of its workers, so it gets a folder
# without .cache. It derives the deadline of a mutant from the time of the tests, which
# therefore must not come from the cache of results, and allows ten times as much: the tests
# wait for git and for locks, and several mutants run at once. The first failed test ends the
# tests of a mutant.
MUTATED := internal/policy internal/tick internal/ledger internal/latch

.PHONY: mutants
mutants:
	@rm -rf bin/mutants && git checkout-index --all --prefix=bin/mutants/
	@for folder in $(MUTATED); do (cd bin/mutants && GOFLAGS="$$(go env GOFLAGS) -count=1 -failfast" go run $(GREMLINS) unleash --timeout-coefficient 10 ./$$folder); done

.PHONY: record-argo
record-argo:
	@scripts/controlplane/build.sh >/dev/null
	@scripts/argo/build.sh >/dev/null
	go test -count=1 -timeout 30m -parallel 8 -tags argo -run '^TestArgoRollouts$$' ./internal/kube $(if $(UPDATE),-update)

.PHONY: keda
keda:
	@scripts/controlplane/build.sh >/dev/null
	@scripts/keda/build.sh >/dev/null
	go test -count=1 -timeout 30m -tags keda -run '^TestKEDA$$' ./internal/restore/cluster

.PHONY: prometheus
prometheus:
	@scripts/controlplane/build.sh >/dev/null
	@scripts/prometheus/build.sh >/dev/null
	go test -count=1 -timeout 30m -run '^TestPrometheusFiresWhenTicksStop$$' ./internal/proof/incluster -tags prometheus

.PHONY: test-versions
test-versions:
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	@scripts/helm/build.sh >/dev/null
	@scripts/flagger/build.sh >/dev/null
	@scripts/keda/build.sh >/dev/null
	go test -v -count=1 -timeout 8h ./internal/proof/versions -run '^TestVersions$$' -versions -only '$(ONLY)'

.PHONY: lint
lint: ## Lint Go, and the scripts if shellcheck is installed
	@test -z "$$(gofmt -l $(GO_FOLDERS))" || { echo "not formatted, run make fmt:"; gofmt -l $(GO_FOLDERS); exit 1; }
	go run $(GOLANGCI_LINT) run --build-tags '$(TAGS)'
	@if command -v shellcheck >/dev/null; then shellcheck $$(git ls-files '*.sh') .ci/run; else echo "shellcheck is not installed: scripts were not linted"; fi

.PHONY: vulnerabilities
vulnerabilities:
	go run $(GOVULNCHECK) ./...

FUNCTIONS := LatchFunction RestoreFunction RegionSwitchFunction DrillFunction FleetDispatcher FleetWorker

.PHONY: build
build: bin/gitlatch functions ## Build the command, and the Lambda functions for arm64, into bin

.PHONY: functions
functions:
	@for f in $(FUNCTIONS); do mkdir -p $(BIN)/$$f && $(MAKE) --no-print-directory build-$$f ARTIFACTS_DIR=$(BIN)/$$f; done

.PHONY: package
package: functions
	@rm -rf $(BIN)/package
	@go run ./scripts/package -from $(BIN) -o $(BIN)/package -version $(VERSION) template.yaml infra/drill.yaml infra/restore.yaml infra/fleet/template.yaml

.PHONY: completions
completions:
	@go run ./scripts/completions $(BIN)/completions

# Go knows best what is out of date.
.PHONY: bin/gitlatch
bin/gitlatch:
	@go build -o $@ ./functions/gitlatch

# What is built is said of the commit, whose time makes the same commit the same
# image.
VERSION = $(shell git describe --tags --always --dirty)
REVISION = $(shell git rev-parse HEAD)
CREATED = $(shell git log -1 --format=%cI)

# The command for each platform of a release.
BINARIES := $(addprefix $(BIN)/programs/,darwin_amd64 darwin_arm64 linux_amd64 linux_arm64 windows_amd64 windows_arm64)
platform = $(subst _, ,$(notdir $@))

.PHONY: $(BINARIES)
$(BINARIES):
	@GOOS=$(word 1,$(platform)) GOARCH=$(word 2,$(platform)) $(COMPILE) -o $@/ ./functions/gitlatch

.PHONY: image
image: $(filter %/linux_amd64 %/linux_arm64,$(BINARIES)) ## Write the container image to bin/image, without Docker
	@rm -rf $(BIN)/image
	@go -C scripts/image run . -o $(abspath $(BIN)/image) $(if $(PUSH),-push $(PUSH)) -version $(VERSION) -revision $(REVISION) -created $(CREATED) \
		$(foreach arch,amd64 arm64,$(arch)=$(abspath $(BIN)/programs/linux_$(arch)/gitlatch))

.PHONY: sbom
sbom: functions $(BINARIES) $(BIN)/cyclonedx-gomod
	@rm -rf $(BIN)/sbom && mkdir -p $(BIN)/sbom
	@sbom() { $(BIN)/cyclonedx-gomod bin -json -noserial -notimestamp -std -output $(BIN)/sbom/$$1.cdx.json $$2; }; \
		for f in $(FUNCTIONS); do sbom $$f $(BIN)/$$f/bootstrap; done; \
		for p in $(BINARIES); do sbom gitlatch_$(VERSION:v%=%)_$${p##*/} $$p/gitlatch*; done

$(BIN)/cyclonedx-gomod: scripts/release/go.mod
	@go -C scripts/release build -o $(abspath $@) github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

# The files of a release. SHA256SUMS names each of them, and the workflow signs it.
.PHONY: dist
dist: $(BINARIES) package image completions sbom
	@rm -rf $(DIST)/release && mkdir -p $(DIST)
	@go -C scripts/release run . -version $(VERSION) -created $(CREATED) -root $(CURDIR) -from $(abspath $(BIN)) -o $(abspath $(DIST)/release)

.PHONY: snapshot
snapshot: dist
	@scripts/release/sign.sh $(DIST)/release/SHA256SUMS

# sam build calls build-<LogicalId>. Without lambda.norpc the binary holds
# net/rpc for a runtime that is gone, and is a quarter larger.
bootstrap = GOOS=linux GOARCH=arm64 $(COMPILE) -tags lambda.norpc -o $(ARTIFACTS_DIR)/bootstrap

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
zip-size:
	@mkdir -p bin/LatchFunction
	@$(MAKE) --no-print-directory -s build-LatchFunction ARTIFACTS_DIR=bin/LatchFunction
	@go run ./scripts/zipsize bin/LatchFunction/bootstrap

.PHONY: bench
bench: ## Measure the figures of the handbook, in ten minutes
	@scripts/controlplane/build.sh >/dev/null
	@scripts/npm/install.sh >/dev/null
	@go test -tags long ./internal/proof/bench -count=1 -timeout 60m -v -run '^TestFigures$$' -figures -only '$(ONLY)' | grep --line-buffered -vE '^(=== |PASS$$|ok )'

.PHONY: bench-rebuild
bench-rebuild:
	@scripts/controlplane/build.sh >/dev/null
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	@go -C internal/proof/rebuild test -tags gitops -count 1 -timeout 150m -run '^TestRebuild$$' -pods '$(or $(PODS),40$(comma)400$(comma)4000)' $(if $(METHODS),-methods '$(METHODS)') $(if $(PROFILES),-profiles '$(abspath $(PROFILES))') $(if $(LATE),-late $(LATE)) | grep --line-buffered -vE '^(PASS$$|ok )'

.PHONY: bench-owners
bench-owners:
	@scripts/controlplane/build.sh >/dev/null
	@scripts/flux/build.sh >/dev/null
	@scripts/argocd/build.sh >/dev/null
	go test -tags gitops -count=1 -timeout 3h -v ./internal/proof/owners -run '^(TestFoldersFirst|TestCommitsScaleNothing)$$' -times $(or $(TIMES),10) -commits $(or $(COMMITS),200)

.PHONY: bench-backtest
bench-backtest: bin/gitlatch
	@go run ./scripts/bench-backtest

.PHONY: bench-fleet
bench-fleet:
	@go test ./internal/proof/fleet -timeout 90m -run '^$$' -bench '^BenchmarkFleet$$' -benchtime 1x | grep --line-buffered -vE '^(PASS$$|ok |goos:|goarch:|pkg:|cpu:|Benchmark)'

.PHONY: pictures
pictures:
	@scripts/npm/install.sh >/dev/null
	@scripts/chromium/fetch.sh >/dev/null
	go test -tags pages -count=1 ./internal/drill/page -run '^TestInChromium$$/^pictures' -update

.PHONY: fmt
fmt: ## Format the Go files
	gofmt -w $(GO_FOLDERS)

.PHONY: clean
clean: ## Remove what was built, except the programs of the tests in .cache
	rm -rf bin dist .aws-sam
