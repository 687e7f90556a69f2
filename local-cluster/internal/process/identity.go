package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Identity names a process for good: numbers are used again, a number with the time it was started at is not.
type Identity struct {
	PID int `json:"pid"`
	// Started is in clock ticks since boot, as the kernel counts.
	Started string `json:"started"`
}

// Identify returns the identity of a running process.
func Identify(pid int) (Identity, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Identity{}, err
	}
	state, started, err := parseStat(string(content))
	if err != nil {
		return Identity{}, err
	}
	if state == "Z" {
		return Identity{}, fmt.Errorf("process %d has ended", pid)
	}
	return Identity{PID: pid, Started: started}, nil
}

// parseStat takes the state and the start time out of a /proc/PID/stat line. The name in its second field may hold
// spaces and parentheses, so the fields are counted from the last one.
func parseStat(line string) (state, started string, err error) {
	end := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:])
	if end < 0 || len(fields) < 20 {
		return "", "", errors.New("not a line of /proc/PID/stat")
	}
	return fields[0], fields[19], nil
}

// Running says whether that very process still runs.
func (i Identity) Running() bool {
	if i.PID <= 0 {
		return false
	}
	now, err := Identify(i.PID)
	return err == nil && now == i
}

// Stop asks the process to end and kills it when it has not done so after grace. It returns when it is gone.
func (i Identity) Stop(grace time.Duration) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, 10 * time.Second}} {
		if !i.Running() {
			return nil
		}
		if err := syscall.Kill(i.PID, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		for end := time.Now().Add(step.wait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if !i.Running() {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d does not end", i.PID)
}
