package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseStatWithHostileName(t *testing.T) {
	line := "42 (a) b (c) S 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 0 0"
	state, started, err := parseStat(line)
	if err != nil || state != "S" || started != "98765" {
		t.Fatalf("got %q, %q, %v", state, started, err)
	}
	if _, _, err := parseStat("nonsense"); err == nil {
		t.Fatal("nonsense must not parse")
	}
}

func TestStopKillsWhatIgnoresTheRequest(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p, err := Start(Spec{Name: "stubborn", Command: []string{"sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(Tail(log, 1), "up") {
		time.Sleep(10 * time.Millisecond)
	}
	Stop(100*time.Millisecond, p)
	if p.Alive() == nil {
		t.Fatal("still alive")
	}
}

func TestFailureTellsTheLastWords(t *testing.T) {
	p, err := Start(Spec{Name: "c", Command: []string{"sh", "-c", "echo last words; exit 3"}, Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	text := p.Failure().Error()
	if !strings.Contains(text, "last words") || !strings.Contains(text, "exit status 3") {
		t.Fatal(text)
	}
}

func TestIdentityEndsWithTheProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	identity, err := Identify(cmd.Process.Pid)
	if err != nil || !identity.Running() {
		t.Fatalf("%v, %v", identity, err)
	}
	if err := identity.Stop(time.Second); err != nil || identity.Running() {
		t.Fatalf("still running, %v", err)
	}
	reused := Identity{PID: os.Getpid(), Started: "1"}
	if reused.Running() {
		t.Fatal("another process under the same number is not the same process")
	}
}
