// Package progress tells the user what is going on: one line a step, with the time since the start.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// aliveEvery is how often a step that is still running says so.
const aliveEvery = 20 * time.Second

// Log writes progress lines. Its methods may be called from several goroutines at once.
type Log struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

// New returns a Log whose clock starts now.
func New(out io.Writer) *Log {
	return &Log{out: out, start: time.Now()}
}

// Line prints one line about a component.
func (l *Log) Line(component, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "[%6.1fs] %s: %s\n", time.Since(l.start).Seconds(), component, fmt.Sprintf(format, args...))
}

// Step runs f and prints done, with the time it took, when it succeeds. While f runs longer than a user likes to
// look at nothing, doing is printed now and then. A failure is returned, not printed: the caller prints it once.
func (l *Log) Step(component, doing, done string, f func() error) error {
	return l.Watched(component, doing, done, nil, f)
}

// Watched is Step with a detail for the lines that say the step is alive, such as how far it got.
func (l *Log) Watched(component, doing, done string, detail func() string, f func() error) error {
	begin := time.Now()
	finished := make(chan struct{})
	var alive sync.WaitGroup
	alive.Add(1)
	go func() {
		defer alive.Done()
		ticker := time.NewTicker(aliveEvery)
		defer ticker.Stop()
		for {
			select {
			case <-finished:
				return
			case <-ticker.C:
				more := ""
				if detail != nil {
					more = ", " + detail()
				}
				l.Line(component, "still %s (%.0fs%s)", doing, time.Since(begin).Seconds(), more)
			}
		}
	}()
	err := f()
	close(finished)
	alive.Wait()
	if err == nil {
		l.Line(component, "%s (%.1fs)", done, time.Since(begin).Seconds())
	}
	return err
}

// Together runs all functions side by side, waits for all of them, and returns the first error in their order.
func Together(functions ...func() error) error {
	errs := make([]error, len(functions))
	var wg sync.WaitGroup
	for i, f := range functions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = f()
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
