// Package kwok plays many nodes with kwok, upstream's simulator of kubelets: pods on them run at once, without
// containers, and go at once. It is for benchmarks, where thousands of pods are needed and none has to do anything.
package kwok

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"localcluster/internal/process"
	"localcluster/internal/progress"
)

//go:embed stages.yaml
var stages []byte

const (
	// label marks simulated nodes, for kwok and for node selectors.
	label = "kwok.x-k8s.io/node"
	// podCIDR is where simulated pods get addresses from; nothing ever connects to one.
	podCIDR = "10.64.0.0/10"
	// leaseSeconds is how long a node counts as alive after its last sign of life, as with a kubelet.
	leaseSeconds = 40
)

// Options say what to simulate.
type Options struct {
	// Binary is kwok's, Kubectl the command line that is kubectl.
	Binary  string
	Kubectl []string
	// Kubeconfig of the cluster to add nodes to.
	Kubeconfig string
	Nodes      int
	// Taint keeps pods away that do not tolerate the label as a taint; wanted where real nodes exist, too.
	Taint bool
	// Timeout bounds the time until all nodes are ready.
	Timeout time.Duration
}

// Run registers the nodes, starts kwok, calls ready, and plays until ctx ends or kwok does; the latter is an error.
// The nodes stay registered. kwok's log is kept if it failed.
func Run(ctx context.Context, log *progress.Log, options Options, ready func() error) (failure error) {
	dir, err := os.MkdirTemp("", "ray-local-cluster-kwok-")
	if err != nil {
		return err
	}
	defer func() {
		if failure == nil {
			failure = os.RemoveAll(dir)
		}
	}()
	config := filepath.Join(dir, "stages.yaml")
	if err := os.WriteFile(config, stages, 0o644); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: "kwok",
		Command: []string{options.Binary, "--kubeconfig=" + options.Kubeconfig, "--config=" + config, "--cidr=" + podCIDR, "--v=WARN",
			"--manage-nodes-with-label-selector=" + label,
			"--node-lease-duration-seconds=" + strconv.Itoa(leaseSeconds)},
		Log: filepath.Join(dir, "kwok.log"),
	})
	if err != nil {
		return err
	}
	defer process.Stop(time.Second, p)
	start, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	go func() {
		<-p.Done() // then no node will become ready
		cancel()
	}()
	err = log.Step("kwok", "registering nodes", fmt.Sprintf("%d nodes are Ready", options.Nodes), func() error {
		nodes, err := json.Marshal(nodeList(options))
		if err != nil {
			return err
		}
		if err := kubectl(start, options, nodes, "apply", "--server-side", "--filename=-"); err != nil {
			return err
		}
		return kubectl(start, options, nil, "wait", "--for=condition=Ready", "node", "--selector="+label, "--timeout="+options.Timeout.String())
	})
	if dead := p.Alive(); dead != nil {
		return dead
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-p.Done():
		return p.Failure()
	}
}

func kubectl(ctx context.Context, options Options, input []byte, arguments ...string) error {
	command := append(append([]string{}, options.Kubectl...), "--kubeconfig="+options.Kubeconfig)
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], arguments...)...)
	cmd.Stdin = bytes.NewReader(input)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", arguments[0], err, strings.TrimSpace(string(output)))
	}
	return nil
}

// nodeList describes nodes that never run out of room. A node may be created with its status, and these are ready
// from the first moment.
func nodeList(options Options) map[string]any {
	room := map[string]any{"cpu": "1000", "memory": "4Ti", "ephemeral-storage": "4Ti", "pods": "1000", "nvidia.com/gpu": "64"}
	now := time.Now().UTC().Format(time.RFC3339)
	var items []any
	for i := range options.Nodes {
		name := fmt.Sprintf("kwok-%04d", i)
		spec := map[string]any{}
		if options.Taint {
			spec["taints"] = []any{map[string]any{"key": label, "value": "simulated", "effect": "NoSchedule"}}
		}
		items = append(items, map[string]any{
			"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": name, "labels": map[string]any{
				label: "simulated", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}},
			"spec": spec,
			"status": map[string]any{
				"capacity": room, "allocatable": room,
				"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Simulated",
					"lastHeartbeatTime": now, "lastTransitionTime": now}},
			},
		})
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}
