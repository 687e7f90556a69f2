package apicluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"localcluster/internal/cache"
	"localcluster/internal/controlplane"
	"localcluster/internal/kubeapi"
	"localcluster/internal/process"
	"localcluster/internal/progress"
)

// Options say what kind of cluster is wanted.
type Options struct {
	Name string
	// Port of the API server; 0 takes a free one.
	Port int
	// Without names components to leave out: the scheduler, the controller-manager.
	Without []string
	// AuditLog is a file that gets one JSON line a request; none if empty.
	AuditLog string
	// Timeout bounds the start.
	Timeout time.Duration
	// Bound says that the cluster ends with the process that asked for it.
	Bound bool
}

// Optional lists the components that Options.Without may name.
var Optional = []string{controlplane.ControllerManager, controlplane.Scheduler}

// stopGrace is how long components get to end by themselves. An API server with open watches takes its time, and
// nothing is lost by killing it: the data goes, too.
const stopGrace = 100 * time.Millisecond

// downGrace is how long a supervisor may take to stop its components.
const downGrace = 10 * time.Second

// ErrRunning says that a cluster of that name runs already.
var ErrRunning = errors.New("is running already")

// Run starts a cluster, calls ready, and keeps the cluster until ctx ends or a component does; the latter is an
// error. It removes the cluster's files when it returns nil, and leaves the logs for reading otherwise.
func Run(ctx context.Context, log *progress.Log, binary string, options Options, ready func(State) error) error {
	sweep()
	if err := os.MkdirAll(Directory(), 0o700); err != nil {
		return err
	}
	unlock, err := cache.Lock(directoryOf(options.Name)+".lock", nil)
	if err != nil {
		return err
	}
	defer unlock()
	if state, err := Read(options.Name); err == nil && state.Running {
		return fmt.Errorf("API cluster %s %w", options.Name, ErrRunning)
	}
	dir := directoryOf(options.Name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	reservation, port, err := reservePort(options.Port)
	if err != nil {
		return err
	}
	defer reservation.Close()

	plane, err := controlplane.Prepare(controlplane.Config{
		Name:              options.Name,
		Binary:            binary,
		Dir:               dir,
		Logs:              filepath.Join(dir, "logs"),
		Address:           "127.0.0.1",
		Port:              port,
		SharePort:         true,
		ServiceCIDR:       "10.96.0.0/16",
		ServiceIP:         "10.96.0.1",
		AuditLog:          options.AuditLog,
		NoServiceAccounts: slices.Contains(options.Without, controlplane.ControllerManager),
	})
	if err != nil {
		return err
	}
	var started []*process.Process
	defer func() {
		slices.Reverse(started) // clients before servers
		process.Stop(stopGrace, started...)
	}()
	ended := make(chan *process.Process, 4)
	start := func(spec process.Spec) (*process.Process, error) {
		p, err := process.Start(spec)
		if err != nil {
			return nil, err
		}
		started = append(started, p)
		go func() {
			<-p.Done()
			ended <- p
		}()
		return p, nil
	}

	begin, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	err = log.Step("api "+options.Name, "starting", "ready at "+plane.Server(), func() error {
		return startAll(begin, plane, options, start, ended)
	})
	if ctx.Err() != nil {
		process.Stop(stopGrace, started...)
		return remove(options.Name)
	}
	if err != nil {
		return err
	}
	state, err := describe(plane, options, started)
	if err != nil {
		return err
	}
	if err := state.write(); err != nil {
		return err
	}
	// From here the state tells that the name is taken, and a second attempt need not wait for the lock.
	unlock()
	if err := ready(state); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case p := <-ended:
		return p.Failure()
	}
	slices.Reverse(started)
	process.Stop(stopGrace, started...)
	return remove(options.Name)
}

func startAll(ctx context.Context, plane *controlplane.ControlPlane, options Options, start controlplane.Starter,
	ended <-chan *process.Process) error {
	var wanted []string
	for _, name := range Optional {
		if !slices.Contains(options.Without, name) {
			wanted = append(wanted, name)
		}
	}
	if err := plane.Start(ctx, start, wanted...); err != nil {
		return err
	}
	if !slices.Contains(wanted, controlplane.ControllerManager) {
		return nil
	}
	alive := func() error {
		select {
		case p := <-ended:
			return p.Failure()
		default:
			return nil
		}
	}
	return kubeapi.Wait(ctx, alive, plane.Client.DefaultServiceAccount)
}

func describe(plane *controlplane.ControlPlane, options Options, started []*process.Process) (State, error) {
	self, err := process.Identify(os.Getpid())
	if err != nil {
		return State{}, err
	}
	components := map[string]int{}
	for _, p := range started {
		components[p.Name] = p.PID()
	}
	return State{
		Name: options.Name, Server: plane.Server(), Kubeconfig: plane.Kubeconfig(), Dir: plane.Dir,
		PID: self.PID, Components: components, Running: true, Supervisor: self, Bound: options.Bound, Since: time.Now(),
	}, nil
}

// reservePort binds a port of 127.0.0.1 and keeps it bound without listening. The API server, told to share it, is
// the only one that can listen there; a port that is merely found free can be taken before the server starts.
func reservePort(port int) (*os.File, int, error) {
	if port != 0 {
		// A shared bind succeeds beside another shared one, so ask for the port alone first.
		probe, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return nil, 0, err
		}
		probe.Close()
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	file := os.NewFile(uintptr(fd), "reserved port")
	const reusePort = 0xf // SO_REUSEPORT, which the syscall package does not name on every architecture
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, reusePort, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		file.Close()
		return nil, 0, fmt.Errorf("port %d of 127.0.0.1: %w", port, err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, name.(*syscall.SockaddrInet4).Port, nil
}
