package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"localcluster/internal/apt"
	"localcluster/internal/cache"
	"localcluster/internal/cgroup"
	"localcluster/internal/controlplane"
	"localcluster/internal/gobuild"
	"localcluster/internal/images"
	"localcluster/internal/kubeapi"
	"localcluster/internal/network"
	"localcluster/internal/oci"
	"localcluster/internal/process"
	"localcluster/internal/progress"
)

// Options say what kind of node is wanted.
type Options struct {
	Dir string
	// Subnet that the node takes all its addresses from.
	Subnet string
	// RayVersions are those to have images of.
	RayVersions []string
	// Timeout bounds the start, without the time to build what is missing.
	Timeout time.Duration
	// InitCommand is this executable, told to be Init.
	InitCommand []string
}

// Up brings the node up, if it is not, and returns when pods can be run on it.
func Up(ctx context.Context, log *progress.Log, options Options) error {
	if os.Getuid() != 0 {
		return errors.New("a node needs root: it makes namespaces, mounts and control groups")
	}
	if err := CheckDirectory(options.Dir); err != nil {
		return err
	}
	plan, err := network.NewPlan(options.Subnet)
	if err != nil {
		return err
	}
	unlock, err := lock(log, options.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := apt.Install(log); err != nil {
		return err
	}
	if recovers(ctx, log, options.Dir) {
		if err := loadAll(ctx, log, options.Dir, options.RayVersions, options.containerdReady); err != nil {
			return err
		}
		log.Line("node", "already up")
		return nil
	}
	if err := clean(log, options.Dir); err != nil {
		return fmt.Errorf("cannot remove what an earlier node left: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	launched := make(chan struct{})
	reported := func(f func() error) func() error {
		return func() error {
			err := f()
			if err != nil {
				// Said at once, and not after the other half has compiled for ten more minutes.
				if ctx.Err() == nil {
					first, _, _ := strings.Cut(err.Error(), "\n")
					log.Line("node", "failed (%s), waiting for the rest to end", first)
				}
				cancel(err)
			}
			return err
		}
	}
	err = progress.Together(
		reported(func() error { return start(ctx, log, plan, options, launched) }),
		reported(func() error {
			return loadAll(ctx, log, options.Dir, options.RayVersions, func(ctx context.Context) error {
				select {
				case <-launched:
				case <-ctx.Done():
					return ctx.Err()
				}
				return options.containerdReady(ctx)
			})
		}))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	s, err := readState(options.Dir)
	if err != nil {
		return err
	}
	s.Ready = true
	return s.write(options.Dir)
}

// containerdReady returns when images can be imported.
func (o Options) containerdReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	return waitForContainerd(ctx, o.Dir, func() error { return alive(o.Dir) })
}

// lock keeps two commands from changing the node at once.
func lock(log *progress.Log, dir string) (func(), error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return cache.Lock(dir+".lock", func() { log.Line("node", "another command changes the node, waiting") })
}

// recovers says whether there is a healthy node. One that was ready gets some time to be so again: its supervisor may
// be starting a component that died.
func recovers(ctx context.Context, log *progress.Log, dir string) bool {
	s, err := readState(dir)
	if err != nil || !s.Init.Running() || !s.Ready {
		return false
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		status := Inspect(ctx, dir)
		if status.Healthy {
			return true
		}
		if time.Now().After(end) || !status.Running {
			log.Line("node", "not healthy, starting it anew: %s", status.Problem)
			return false
		}
	}
}

// alive returns nil while the node runs, and else why it ended.
func alive(dir string) error {
	if Running(dir) {
		return nil
	}
	if failure, err := os.ReadFile(failurePath(dir)); err == nil {
		return fmt.Errorf("the node ended: %s", failure)
	}
	log := filepath.Join(dir, "logs", "supervisor.log")
	return fmt.Errorf("the node ended:\n%s\nlog: %s", process.Tail(log, 15), log)
}

// start builds the components, starts the node, and waits until pods are admitted and names resolve.
func start(ctx context.Context, log *progress.Log, plan network.Plan, options Options, launched chan<- struct{}) error {
	config := Config{Dir: options.Dir, Network: plan}
	var err error
	if config.ControlPlaneBinary, err = gobuild.ControlPlane.Binary(log); err != nil {
		return err
	}
	if config.NodeBinary, err = gobuild.Node.Binary(log); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	plane, err := prepare(config)
	if err != nil {
		return err
	}
	if err := launch(config, options); err != nil {
		return err
	}
	close(launched)
	running := func() error { return alive(options.Dir) }
	steps := []struct {
		component, doing, done string
		ready                  func(context.Context) error
	}{
		{controlplane.APIServer, "starting", "ready at " + plane.Server(), plane.Client.Ready},
		{kubelet, "registering the node", "node is Ready", func(ctx context.Context) error { return plane.Client.NodeReady(ctx, Name) }},
		{coreDNS, "starting", "answers", func(ctx context.Context) error { return resolve(ctx, plan) }},
		{controlplane.ControllerManager, "making service accounts", "pods are admitted", plane.Client.DefaultServiceAccount},
	}
	for _, step := range steps {
		err := log.Step(step.component, step.doing, step.done, func() error { return kubeapi.Wait(ctx, running, step.ready) })
		if err != nil {
			file := config.log(step.component)
			return fmt.Errorf("%s: %w\n%s\nlog: %s", step.component, err, process.Tail(file, 15), file)
		}
	}
	return nil
}

// launch starts the first process of the node, in namespaces of its own, and connects it with this machine.
func launch(config Config, options Options) error {
	// Bridged packets pass iptables only with this module, and a namespace cannot load it.
	if _, err := os.Stat("/proc/sys/net/bridge"); err != nil {
		if output, err := exec.Command("modprobe", "br_netfilter").CombinedOutput(); err != nil {
			return fmt.Errorf("modprobe br_netfilter: %w: %s", err, output)
		}
	}
	if err := cgroup.Create(); err != nil {
		return err
	}
	made, err := makeFolders()
	if err != nil {
		return err
	}
	output, err := os.Create(config.log("supervisor"))
	if err != nil {
		return err
	}
	defer output.Close()
	cmd := exec.Command(options.InitCommand[0], options.InitCommand[1:]...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: cloneFlags}
	gate, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("namespaces: %w", err)
	}
	go cmd.Wait() // or it stays a zombie, which is neither running nor gone
	identity, err := process.Identify(cmd.Process.Pid)
	if err != nil {
		return err
	}
	if err := (state{Init: identity, MadeFolders: made, Since: time.Now()}).write(config.Dir); err != nil {
		return err
	}
	if err := config.Network.Connect(identity.PID); err != nil {
		return err
	}
	if _, err := io.WriteString(gate, goAhead); err != nil {
		return err
	}
	return gate.Close()
}

// loadAll makes the images the node needs and gives them to containerd, when it is there.
func loadAll(ctx context.Context, log *progress.Log, dir string, versions []string, containerdReady func(context.Context) error) error {
	pause, err := images.Pause(log)
	if err != nil {
		return err
	}
	type image struct {
		name   string
		layout oci.Layout
	}
	all := []image{{"pause", pause}}
	for _, version := range slices.Compact(slices.Sorted(slices.Values(versions))) {
		layout, err := images.Ray(log, version)
		if err != nil {
			return err
		}
		all = append(all, image{"ray " + version, layout})
	}
	if err := containerdReady(ctx); err != nil {
		return err
	}
	for _, image := range all {
		begin := time.Now()
		imported, err := importLayout(ctx, dir, image.layout)
		if err != nil {
			return fmt.Errorf("image %s: %w", image.name, err)
		}
		if imported {
			log.Line("image "+image.name, "imported (%.1fs)", time.Since(begin).Seconds())
		}
	}
	return nil
}

// resolve asks the node's resolver for the API server's service.
func resolve(ctx context.Context, plan network.Plan) error {
	resolver := net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, transport, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, transport, netip.AddrPortFrom(plan.Node, 53).String())
		},
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	addresses, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
	if err == nil && !slices.Contains(addresses, plan.API.String()) {
		err = fmt.Errorf("the resolver answers %s", strings.Join(addresses, " "))
	}
	return err
}
