package controlplane

import (
	"context"
	"fmt"
	"os"
	"time"

	"localcluster/internal/kubeapi"
	"localcluster/internal/process"
)

// Starter starts one component; what it does when the component ends is its own affair.
type Starter func(process.Spec) (*process.Process, error)

// Start starts etcd, the API server, and then those of the controller-manager and the scheduler that are wanted, and
// returns when the API server is ready. Those two come last because they give up on an API server that does not
// answer. The first component that ends meanwhile is the error.
func (c *ControlPlane) Start(ctx context.Context, start Starter, rest ...string) error {
	etcd, err := start(c.Spec(Etcd))
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(c.socket()); err == nil {
			break
		}
		if err := etcd.Alive(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("etcd does not listen: %w; log: %s", ctx.Err(), etcd.Log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	server, err := start(c.Spec(APIServer))
	if err != nil {
		return err
	}
	alive := func() error {
		if err := etcd.Alive(); err != nil {
			return err
		}
		return server.Alive()
	}
	if err := kubeapi.Wait(ctx, alive, c.Client.Ready); err != nil {
		if dead := alive(); dead != nil {
			return dead
		}
		return fmt.Errorf("%s is not ready: %w\n%s\nlog: %s", APIServer, err, process.Tail(server.Log, 15), server.Log)
	}
	for _, name := range rest {
		if _, err := start(c.Spec(name)); err != nil {
			return err
		}
	}
	return nil
}
