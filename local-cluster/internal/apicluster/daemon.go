package apicluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"localcluster/internal/cache"
	"localcluster/internal/process"
	"localcluster/internal/progress"
)

// Up starts a supervisor in the background that runs the command (this executable, told to supervise), and returns
// when the cluster is ready. A cluster of that name that runs already is fine.
func Up(log *progress.Log, name string, timeout time.Duration, supervise []string) (State, error) {
	if state, err := Read(name); err == nil && state.Running {
		log.Line("api "+name, "already up at %s", state.Server)
		return state, nil
	}
	if err := os.MkdirAll(Directory(), 0o700); err != nil {
		return State{}, err
	}
	// The supervisor's log cannot be in the cluster's folder: the supervisor clears that first.
	path := directoryOf(name) + ".log"
	output, err := os.Create(path)
	if err != nil {
		return State{}, err
	}
	defer output.Close()
	cmd := exec.Command(supervise[0], supervise[1:]...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Dir = "/"
	// A session of its own: neither the terminal nor a shell that ends takes the cluster with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return State{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	var state State
	err = log.Step("api "+name, "starting", "ready", func() error {
		deadline := time.After(timeout + downGrace)
		for {
			state, err = Read(name)
			if err == nil && state.Running {
				return nil
			}
			select {
			case <-ended:
				// Another process may have been quicker; then its cluster is as good as ours.
				if state, err = Read(name); err == nil && state.Running {
					return nil
				}
				return fmt.Errorf("API cluster %s did not start:\n%s", name, process.Tail(path, 20))
			case <-deadline:
				cmd.Process.Signal(syscall.SIGTERM)
				return fmt.Errorf("API cluster %s is not ready after %s:\n%s", name, timeout, process.Tail(path, 20))
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return state, err
}

// Down stops a cluster and removes its files. One that is not there is fine.
func Down(name string) error {
	if _, err := os.Stat(Directory()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// One that is being started holds the lock until it can be stopped.
	unlock, err := cache.Lock(directoryOf(name)+".lock", nil)
	if err != nil {
		return err
	}
	defer unlock()
	state, err := Read(name)
	if err == nil {
		if err := state.Supervisor.Stop(downGrace); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return remove(name)
}
