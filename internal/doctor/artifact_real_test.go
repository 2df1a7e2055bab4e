//go:build gitops

package doctor_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/helm"
)

// Flux's source-controller copies the annotations of an artifact into the status of its
// OCIRepository. doctor accepts the artifact only if they name the tip of the branch.
func TestAnArtifactOfARealSourceController(t *testing.T) {
	t.Parallel()
	const tip = "4f0c6e2a9b7d15c38e60f2b4a7c9d1e3f5a6b7c8"
	cp := controlplane.Start(t, controlplane.Options{})
	helm.StartFlux(t, cp)
	cp.Define(t, controlplane.Kustomization, controlplane.Application)
	cp.Kubectl(t, "", "create", "namespace", "shop")
	cp.Apply(t, running, fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: fleet, namespace: flux-system}
spec: {url: %q, insecure: true, interval: 1h, ref: {tag: latest}}
`, "oci://"+registry(t, here.Repository, tip)+"/fleet"))
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		var source struct {
			Status struct{ Artifact *json.RawMessage }
		}
		err := cp.Read(ctx, "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/ocirepositories/fleet", &source)
		if err == nil && source.Status.Artifact == nil {
			err = errors.New("it has no artifact")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, applier, _ := strings.Cut(read(t, "flux--artifact")["cluster.yaml"], "\n---\n")
	cp.Apply(t, applier)
	seen := look(t, cp, "flux--artifact", "system:masters")
	for commit, start := range map[string]int32{tip: 200, strings.Repeat("0", len(tip)): 0} {
		seen.Here.Tip = commit
		if r := doctor.Examine(seen); r.Workloads[0].Start != start {
			t.Errorf("the tip is %s, want a start of %d: %s", commit, start, tell(r))
		}
	}
}

// registry serves one artifact of a commit as "flux push artifact" makes it, without
// files, and returns the address.
func registry(t *testing.T, repository, commit string) string {
	t.Helper()
	blobs := map[string][]byte{}
	add := func(mediaType string, data []byte) map[string]any {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
		blobs[digest] = data
		return map[string]any{"mediaType": mediaType, "digest": digest, "size": len(data)}
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config":      add("application/vnd.cncf.flux.config.v1+json", []byte("{}")),
		"layers":      []any{add("application/vnd.cncf.flux.content.v1.tar+gzip", pack(t, map[string]string{"README.md": "fleet\n"}))},
		"annotations": map[string]any{"org.opencontainers.image.source": repository, "org.opencontainers.image.revision": "main@sha1:" + commit},
	})
	if err != nil {
		t.Fatal(err)
	}
	digest := add("", manifest)["digest"].(string)
	blobs["latest"] = manifest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digest)
		} else if name != "" && blobs[name] == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(blobs[name])
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
