// Package process starts the components of a cluster and makes sure that they end.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec says what to run.
type Spec struct {
	// Name of the component; shown to users.
	Name string
	// Command is the executable and its arguments.
	Command []string
	// Env is added to this process's environment.
	Env []string
	// Dir is the working directory; the current one if empty.
	Dir string
	// Log is the file that gets the output; it is appended to.
	Log string
}

// Process is a running, or ended, component.
type Process struct {
	Spec
	command *exec.Cmd
	done    chan struct{}
	err     error
}

// starts runs functions on one thread that lives as long as this process. The kernel sends a child its parent-death
// signal when the *thread* that started it ends, and the Go runtime ends threads when it likes.
var starts = sync.OnceValue(func() chan<- func() {
	queue := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range queue {
			start()
		}
	}()
	return queue
})

// Start runs the component. It dies with this process, whatever this process dies of, and it is in a process group
// of its own, so that Ctrl-C in a terminal reaches only us and components end in our order.
func Start(spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{Spec: spec, done: make(chan struct{})}
	p.command = exec.Command(spec.Command[0], spec.Command[1:]...)
	p.command.Env = append(os.Environ(), spec.Env...)
	p.command.Dir = spec.Dir
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	starts() <- func() { started <- p.command.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Name, err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID returns the process ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Failure describes the end of a process that nobody asked to end, with the last lines it wrote.
func (p *Process) Failure() error {
	end := "exit status 0"
	if p.err != nil {
		end = p.err.Error()
	}
	return fmt.Errorf("%s ended: %s\n%s\nlog: %s", p.Name, end, Tail(p.Log, 15), p.Log)
}

// Alive returns nil while the process runs and its Failure after.
func (p *Process) Alive() error {
	select {
	case <-p.done:
		return p.Failure()
	default:
		return nil
	}
}

// Signal sends the signal to the process, which may have ended.
func (p *Process) Signal(signal syscall.Signal) {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		fmt.Fprintf(os.Stderr, "signal %s: %v\n", p.Name, err)
	}
}

// Stop asks the processes to end, waits up to grace for all of them together, and kills those that still run.
func Stop(grace time.Duration, processes ...*Process) {
	for _, p := range processes {
		p.Signal(syscall.SIGTERM)
	}
	deadline := time.After(grace)
	for _, p := range processes {
		select {
		case <-p.done:
		case <-deadline:
			for _, p := range processes {
				p.Signal(syscall.SIGKILL)
			}
			deadline = nil
			<-p.done
		}
	}
}

// Tail returns the last lines of a file, or says why it cannot.
func Tail(path string, lines int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
