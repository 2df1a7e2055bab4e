// Argo CD as the tests run it: its application-controller, its repo-server, its
// applicationset-controller and a Redis in memory, chosen by the name that the
// program is started under.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	applicationset "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
)

func main() {
	if err := run(filepath.Base(os.Args[0])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string) error {
	switch name {
	case "argocd-application-controller":
		return controller.NewCommand().Execute()
	case "argocd-applicationset-controller":
		return applicationset.NewCommand().Execute()
	case "argocd-repo-server":
		return reposerver.NewCommand().Execute()
	case "argocd-redis":
		return redis(os.Args[1])
	default:
		return fmt.Errorf("%s is no part of Argo CD that the tests run", name)
	}
}

// redis serves at an address until it is killed. Its clock moves only on request;
// otherwise a key with an expiry would never expire.
func redis(address string) error {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr(address); err != nil {
		return err
	}
	for range time.Tick(time.Second) {
		m.FastForward(time.Second)
	}
	return nil
}
