package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"localcluster/internal/controlplane"
	"localcluster/internal/process"
)

// state is what whoever starts a node writes down, to find it again.
type state struct {
	// Init is the first process of the node's namespaces, as this machine counts processes.
	Init process.Identity `json:"init"`
	// MadeFolders are those made on this machine for the node to mount something on.
	MadeFolders []string  `json:"madeFolders"`
	Since       time.Time `json:"since"`
	// Ready says that the node was ready once.
	Ready bool `json:"ready"`
}

func statePath(dir string) string { return filepath.Join(dir, "state.json") }

func readState(dir string) (state, error) {
	content, err := os.ReadFile(statePath(dir))
	if err != nil {
		return state{}, err
	}
	var s state
	return s, json.Unmarshal(content, &s)
}

func (s state) write(dir string) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := statePath(dir)
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Running says whether there is a node, whatever its health.
func Running(dir string) bool {
	s, err := readState(dir)
	return err == nil && s.Init.Running()
}

// Status is what a user wants to know about a node.
type Status struct {
	Running    bool              `json:"running"`
	Healthy    bool              `json:"healthy"`
	Problem    string            `json:"problem,omitempty"`
	Kubeconfig string            `json:"kubeconfig"`
	Server     string            `json:"server,omitempty"`
	Since      time.Time         `json:"since,omitzero"`
	Components []ComponentStatus `json:"components,omitempty"`
}

// ComponentStatus is one component of a Status.
type ComponentStatus struct {
	Name     string `json:"name"`
	Running  bool   `json:"running"`
	PID      int    `json:"pid"`
	Restarts int    `json:"restarts"`
	Log      string `json:"log"`
}

// Inspect looks at a node.
func Inspect(ctx context.Context, dir string) Status {
	status := Status{Kubeconfig: Kubeconfig(dir)}
	if os.Getuid() != 0 {
		status.Problem = "only root can look into the node"
		return status
	}
	s, err := readState(dir)
	if err != nil || !s.Init.Running() {
		status.Problem = "the node is not up"
		if failure, err := os.ReadFile(failurePath(dir)); err == nil {
			status.Problem = "the node ended: " + string(failure)
		}
		return status
	}
	status.Running, status.Since = true, s.Since
	config, err := readConfig(dir)
	if err != nil {
		status.Problem = err.Error()
		return status
	}
	status.Server = config.controlPlane().Server()
	status.Components = inspectComponents(config, s.Init.PID)
	for _, component := range status.Components {
		if !component.Running {
			status.Problem = component.Name + " does not run"
			return status
		}
	}
	if err := checkHealth(ctx, config); err != nil {
		status.Problem = err.Error()
		return status
	}
	status.Healthy = true
	return status
}

func inspectComponents(config Config, init int) []ComponentStatus {
	components := map[string]component{}
	if content, err := os.ReadFile(componentsPath(config.Dir)); err == nil {
		json.Unmarshal(content, &components) // half a file cannot be: it is renamed into place
	}
	outside := outsidePIDs(init)
	var all []ComponentStatus
	for _, name := range componentNames {
		known := components[name]
		pid := outside[known.PID]
		all = append(all, ComponentStatus{
			Name: name, PID: pid, Running: known.Running && pid != 0, Restarts: known.Restarts, Log: config.log(name),
		})
	}
	return all
}

// checkHealth asks the API server and the node itself.
func checkHealth(ctx context.Context, config Config) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	plane, err := controlplane.Load(config.controlPlane())
	if err != nil {
		return err
	}
	if err := plane.Client.Ready(ctx); err != nil {
		return fmt.Errorf("the API server is not ready: %w", err)
	}
	if err := plane.Client.NodeReady(ctx, Name); err != nil {
		return err
	}
	return resolve(ctx, config.Network)
}

// outsidePIDs maps process IDs inside the namespace that init leads to those that this machine uses.
func outsidePIDs(init int) map[int]int {
	pids := map[int]int{}
	namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", init))
	if err != nil {
		return pids
	}
	statuses, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return pids
	}
	for _, path := range statuses {
		if other, err := os.Readlink(filepath.Join(filepath.Dir(path), "ns", "pid")); err != nil || other != namespace {
			continue
		}
		if content, err := os.ReadFile(path); err == nil {
			if outer, inner, ok := parseNSpid(string(content)); ok {
				pids[inner] = outer
			}
		}
	}
	return pids
}

// parseNSpid takes the outermost and the innermost process ID out of a /proc/PID/status file.
func parseNSpid(status string) (outer, inner int, ok bool) {
	for _, line := range strings.Split(status, "\n") {
		rest, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return 0, 0, false
		}
		outer, err1 := strconv.Atoi(fields[0])
		inner, err2 := strconv.Atoi(fields[len(fields)-1])
		return outer, inner, err1 == nil && err2 == nil
	}
	return 0, 0, false
}
