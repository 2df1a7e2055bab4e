package rebuild

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// A splitLook is what is seen of a Deployment at once, in pods.
type splitLook struct {
	Before, Target  int32 // asked for, of v1 and of v2
	Pods, Available int32 // of both
}

func lookAt(ctx context.Context, cp *controlplane.ControlPlane, name string) (l splitLook, err error) {
	var list struct {
		Items []struct {
			Spec struct {
				Replicas int32
				Template struct {
					Spec struct{ Containers []struct{ Image string } }
				}
			}
			Status struct{ Replicas, AvailableReplicas int32 }
		}
	}
	err = cp.Read(ctx, "/apis/apps/v1/namespaces/shop/replicasets?labelSelector=app%3D"+name, &list)
	for _, o := range list.Items {
		if o.Spec.Template.Spec.Containers[0].Image == "app:1" {
			l.Before += o.Spec.Replicas
		} else {
			l.Target += o.Spec.Replicas
		}
		l.Pods += o.Status.Replicas
		l.Available += o.Status.AvailableReplicas
	}
	return l, err
}

// watch looks at a Deployment all the time, until it is told to end.
func (s *splitStory) watch(t *testing.T, name string) (end func() []splitLook) {
	ctx, stop := context.WithCancel(t.Context())
	var looks []splitLook
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			if l, err := lookAt(ctx, s.cp, name); err == nil {
				looks = append(looks, l)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() []splitLook {
		stop()
		watching.Wait()
		return looks
	}
}
