package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"localcluster/internal/controlplane"
	"localcluster/internal/process"
	"localcluster/internal/progress"
)

const (
	// startTimeout bounds how long the API server may take; a cold disk and busy processors are not rare.
	startTimeout = 2 * time.Minute
	// stopGrace is how long components get to end by themselves before the kernel ends them. Their data is thrown away,
	// so there is little to wait for.
	stopGrace = 500 * time.Millisecond
	// A component that ends is started again, unless it ended this often within that time.
	maxRestarts   = 5
	restartWindow = 2 * time.Minute
)

// component is what the supervisor tells others about one process, in components.json.
type component struct {
	// PID is the number inside the node's process namespace.
	PID      int  `json:"pid"`
	Running  bool `json:"running"`
	Restarts int  `json:"restarts"`
}

func componentsPath(dir string) string { return filepath.Join(dir, "components.json") }

// failurePath is a file that says why a node ended by itself.
func failurePath(dir string) string { return filepath.Join(dir, "failure") }

type supervisor struct {
	config Config
	log    *progress.Log
	failed chan error

	mu         sync.Mutex
	stopping   bool
	processes  map[string]*process.Process
	components map[string]component
	ends       map[string][]time.Time
}

// Supervise runs all components inside the node's namespaces until a signal asks for the end. A component that ends
// is started again; one that keeps ending ends the node, and the reason is left in a file.
func Supervise(dir string, log *progress.Log) error {
	err := supervise(dir, log)
	if err != nil {
		os.WriteFile(failurePath(dir), []byte(err.Error()), 0o644)
	}
	return err
}

func supervise(dir string, log *progress.Log) error {
	config, err := readConfig(dir)
	if err != nil {
		return err
	}
	plane, err := controlplane.Load(config.controlPlane())
	if err != nil {
		return err
	}
	s := &supervisor{
		config: config, log: log, failed: make(chan error, len(componentNames)+1),
		processes: map[string]*process.Process{}, components: map[string]component{}, ends: map[string][]time.Time{},
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	defer s.stop()
	go func() {
		if err := s.startAll(ctx, plane); err != nil && ctx.Err() == nil {
			s.failed <- err
		}
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// startAll starts containerd beside the control plane, and the rest when both answer.
func (s *supervisor) startAll(ctx context.Context, plane *controlplane.ControlPlane) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	specs := s.config.specs()
	err := progress.Together(
		func() error {
			return plane.Start(ctx, s.start, controlplane.ControllerManager, controlplane.Scheduler)
		},
		func() error {
			if err := sweepContainers(ctx, s.config); err != nil {
				return err
			}
			p, err := s.start(specs[containerd])
			if err != nil {
				return err
			}
			return waitForContainerd(ctx, s.config.Dir, p.Alive)
		})
	if err != nil {
		return err
	}
	if err := allowResolver(ctx, plane.Client); err != nil {
		return fmt.Errorf("role of %s: %w", coreDNS, err)
	}
	for _, name := range []string{kubelet, kubeProxy, coreDNS} {
		if _, err := s.start(specs[name]); err != nil {
			return err
		}
	}
	return nil
}

// start starts a component and keeps it running from then on.
func (s *supervisor) start(spec process.Spec) (*process.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil, errors.New("the node is stopping")
	}
	p, err := process.Start(spec)
	if err != nil {
		return nil, err
	}
	s.processes[spec.Name] = p
	s.components[spec.Name] = component{PID: p.PID(), Running: true, Restarts: len(s.ends[spec.Name])}
	s.publish()
	s.log.Line(spec.Name, "started, process %d", p.PID())
	go func() {
		<-p.Done()
		s.ended(p)
	}()
	return p, nil
}

// ended decides what to do about a component that ended.
func (s *supervisor) ended(p *process.Process) {
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return
	}
	known := s.components[p.Name]
	known.Running = false
	s.components[p.Name] = known
	s.publish()
	s.ends[p.Name] = append(s.ends[p.Name], time.Now())
	often := tooOften(s.ends[p.Name], time.Now())
	s.mu.Unlock()

	s.log.Line(p.Name, "ended: %v", p.Failure())
	if often {
		s.failed <- fmt.Errorf("ended %d times within %s; the last time: %w", maxRestarts, restartWindow, p.Failure())
		return
	}
	time.Sleep(500 * time.Millisecond)
	if _, err := s.start(p.Spec); err != nil {
		s.failed <- err
	}
}

// tooOften says whether the last ends of a component lie so close that starting it again is pointless.
func tooOften(ends []time.Time, now time.Time) bool {
	return len(ends) >= maxRestarts && now.Sub(ends[len(ends)-maxRestarts]) < restartWindow
}

// publish writes down how the components are, in one step, so that readers never see half of it.
func (s *supervisor) publish() {
	content, err := json.Marshal(s.components)
	path := componentsPath(s.config.Dir)
	if err == nil {
		err = os.WriteFile(path+".new", content, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		s.log.Line("supervisor", "cannot tell how components are: %v", err)
	}
}

func (s *supervisor) stop() {
	s.mu.Lock()
	s.stopping = true
	var all []*process.Process
	for _, p := range s.processes {
		all = append(all, p)
	}
	s.mu.Unlock()
	process.Stop(stopGrace, all...)
}
