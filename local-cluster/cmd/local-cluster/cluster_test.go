package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"localcluster/internal/apicluster"
	"localcluster/internal/cgroup"
	"localcluster/internal/network"
	"localcluster/internal/node"
	"localcluster/internal/process"
)

// Tests that start real clusters run when RAY_LOCAL_CLUSTER_TEST says so: "api" for API-only ones, "node" for the node,
// too, which needs root and ends one that runs.
func tool(t *testing.T, kind string) (run func(args ...string) string, path string) {
	t.Helper()
	if wanted := os.Getenv("RAY_LOCAL_CLUSTER_TEST"); wanted != "node" && (wanted == "" || wanted != kind) {
		t.Skip("set RAY_LOCAL_CLUSTER_TEST=" + kind)
	}
	path = filepath.Join(t.TempDir(), "local-cluster")
	if output, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return func(args ...string) string {
		t.Helper()
		cmd := exec.Command(path, args...)
		var errors strings.Builder
		cmd.Stderr = &errors
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, errors.String())
		}
		return string(output)
	}, path
}

func TestAPIClustersSideBySide(t *testing.T) {
	run, _ := tool(t, "api")
	t.Setenv("RAY_LOCAL_CLUSTER_API_DIR", t.TempDir())
	audit := filepath.Join(t.TempDir(), "audit.log")
	var states [2]apicluster.State
	for i, name := range []string{"one", "two"} {
		t.Cleanup(func() { run("api", "down", "--name", name) })
		output := run("api", "up", "--name", name, "--output", "json", "--audit-log", audit+name)
		if err := json.Unmarshal([]byte(output), &states[i]); err != nil {
			t.Fatal(err)
		}
	}
	if states[0].Server == states[1].Server {
		t.Fatal("both have one address")
	}
	t.Setenv("KUBECONFIG", states[0].Kubeconfig)
	run("kubectl", "create", "configmap", "only-here")
	t.Setenv("KUBECONFIG", states[1].Kubeconfig)
	if found := run("kubectl", "get", "configmap", "--output=name"); strings.Contains(found, "only-here") {
		t.Fatal("they share their objects")
	}
	if content, err := os.ReadFile(audit + "one"); err != nil || !strings.Contains(string(content), "only-here") {
		t.Fatalf("the audit log does not tell about the request: %v", err)
	}
	run("api", "down", "--name", "one")
	mustBeGone(t, states[0])
	if !states[1].Supervisor.Running() {
		t.Fatal("the other one ended, too")
	}
}

func TestAPIRunEndsWithItsInputAndWhenKilled(t *testing.T) {
	_, path := tool(t, "api")
	t.Setenv("RAY_LOCAL_CLUSTER_API_DIR", t.TempDir())
	for name, end := range map[string]func(cmd *exec.Cmd, input io.Closer){
		"input closed": func(_ *exec.Cmd, input io.Closer) { input.Close() },
		"killed":       func(cmd *exec.Cmd, _ io.Closer) { cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(path, "api", "run", "--output", "json", "--without", "scheduler")
			cmd.Stderr = os.Stderr
			input, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(output).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var state apicluster.State
			if err := json.Unmarshal([]byte(line), &state); err != nil {
				t.Fatal(err)
			}
			end(cmd, input)
			cmd.Wait()
			mustBeGone(t, state)
		})
	}
}

// mustBeGone gives the processes of a cluster a moment to end; the kernel takes some to free their memory.
func mustBeGone(t *testing.T, state apicluster.State) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for name, pid := range state.Components {
		for {
			if _, err := process.Identify(pid); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s still runs", name)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func TestNodeSurvivesKillsAndLeavesNothing(t *testing.T) {
	run, _ := tool(t, "node")
	dir := node.Directory()
	t.Cleanup(func() { run("down") })
	status := func() (s node.Status) {
		t.Helper()
		if err := json.Unmarshal([]byte(run("status", "--output", "json")), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	run("down")
	run("up", "--no-ray")
	for _, component := range status().Components {
		if component.Name == "containerd" || component.Name == "kubelet" {
			syscall.Kill(component.PID, syscall.SIGKILL)
		}
	}
	run("up", "--no-ray") // waits until they are back
	status()

	// Killing the first process of the node takes everything with it; the next start clears what that left.
	content, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Init process.Identity }
	if err := json.Unmarshal(content, &state); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(state.Init.PID, syscall.SIGKILL)
	run("up", "--no-ray")
	pids := status().Components
	run("down")

	for _, component := range pids {
		if _, err := process.Identify(component.PID); err == nil {
			t.Errorf("%s still runs", component.Name)
		}
	}
	if cgroup.Present() {
		t.Error("control groups are left")
	}
	if _, err := net.InterfaceByName(network.HostLink); err == nil {
		t.Error("the network interface is left")
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), dir) {
		t.Errorf("mounts are left (%v):\n%s", err, mounts)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 1 || len(left) == 1 && filepath.Base(left[0]) != "containerd" {
		t.Errorf("files are left: %v", left)
	}
}
