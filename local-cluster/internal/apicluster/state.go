// Package apicluster runs a Kubernetes API without nodes: etcd, API server, controller-manager and scheduler on
// loopback. It needs neither root nor namespaces, several run side by side, and each ends without a trace.
package apicluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"time"

	"localcluster/internal/process"
)

// State is what a cluster's supervisor writes down when the cluster is ready, and what --output json prints.
type State struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
	// Dir holds everything that belongs to the cluster, logs too.
	Dir string `json:"dir"`
	// PID is the supervisor's; the cluster lives as long as that process.
	PID int `json:"pid"`
	// Components maps the name of each component to its process.
	Components map[string]int `json:"components"`
	// Running is filled in by whoever reads the state.
	Running    bool             `json:"running"`
	Supervisor process.Identity `json:"supervisor"`
	// Bound says that the cluster belonged to the process that started it (api run).
	Bound bool      `json:"bound"`
	Since time.Time `json:"since"`
}

// Directory is where API-only clusters live: RAY_LOCAL_CLUSTER_API_DIR, or a folder of this user in the temporary
// directory.
func Directory() string {
	if dir := os.Getenv("RAY_LOCAL_CLUSTER_API_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("ray-local-cluster-api-%d", os.Getuid()))
}

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

// CheckName refuses names that would not do as a folder and in a kubeconfig.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%q is no name for a cluster: lower-case letters, digits and dashes, 40 at most", name)
	}
	return nil
}

func directoryOf(name string) string { return filepath.Join(Directory(), name) }

func statePath(name string) string { return filepath.Join(directoryOf(name), "state.json") }

// Read returns the state of a cluster; os.ErrNotExist when there is none, or none that became ready.
func Read(name string) (State, error) {
	content, err := os.ReadFile(statePath(name))
	if err != nil {
		return State{}, err
	}
	var state State
	if err := json.Unmarshal(content, &state); err != nil {
		return State{}, err
	}
	state.Running = state.Supervisor.Running()
	return state, nil
}

// write stores the state in one step, so that readers never see half of it.
func (s State) write() error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	temporary := statePath(s.Name) + ".new"
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, statePath(s.Name))
}

// List returns the state of all clusters that became ready, running or not.
func List() ([]State, error) {
	entries, err := os.ReadDir(Directory())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var states []State
	for _, entry := range entries {
		if state, err := Read(entry.Name()); entry.IsDir() && err == nil {
			states = append(states, state)
		}
	}
	sort.Slice(states, func(i, j int) bool { return states[i].Name < states[j].Name })
	return states, nil
}

// sweep removes what bound clusters left whose supervisor was killed: nobody will ask for their end.
func sweep() {
	states, err := List()
	if err != nil {
		return
	}
	for _, state := range states {
		if state.Bound && !state.Running {
			remove(state.Name)
		}
	}
}

// remove deletes all files of a cluster, and the common folder when it was the last.
func remove(name string) error {
	for _, path := range []string{directoryOf(name), directoryOf(name) + ".log", directoryOf(name) + ".lock"} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	os.Remove(Directory())
	return nil
}
