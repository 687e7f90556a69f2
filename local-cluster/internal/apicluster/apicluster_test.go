package apicluster

import (
	"net"
	"os"
	"strconv"
	"testing"

	"localcluster/internal/process"
)

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "test-1", "run-abcdef"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "-a", "a-", "A", "../x", "a b", "this-name-is-longer-than-forty-characters-"} {
		if CheckName(name) == nil {
			t.Errorf("%q must be refused", name)
		}
	}
}

func TestReservedPortIsTaken(t *testing.T) {
	file, port, err := reservePort(0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
		t.Fatal("somebody else got the port")
	}
	if _, _, err := reservePort(port); err == nil {
		t.Fatal("it was reserved a second time")
	}
}

func TestSweepRemovesOnlyWhatKilledRunsLeft(t *testing.T) {
	t.Setenv("RAY_LOCAL_CLUSTER_API_DIR", t.TempDir())
	self, err := process.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dead := process.Identity{PID: os.Getpid(), Started: "1"}
	for name, state := range map[string]State{
		"bound-dead":    {Bound: true, Supervisor: dead},
		"bound-running": {Bound: true, Supervisor: self},
		"daemon-dead":   {Supervisor: dead},
	} {
		state.Name = name
		if err := os.MkdirAll(directoryOf(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := state.write(); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	states, err := List()
	if err != nil || len(states) != 2 || states[0].Name != "bound-running" || states[1].Name != "daemon-dead" {
		t.Fatalf("left are %+v, %v", states, err)
	}
	if !states[0].Running || states[1].Running {
		t.Fatal("who runs is told wrongly")
	}
}
