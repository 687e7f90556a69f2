package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"localcluster/internal/gobuild"
	"localcluster/internal/images"
	"localcluster/internal/network"
	"localcluster/internal/node"
	"localcluster/internal/progress"
)

func nodeCommands() []command {
	return []command{
		{name: "up", arguments: "[--ray-version V]", help: "bring a node up: Kubernetes, and images of Ray", run: nodeUp},
		{name: "down", arguments: "[--all]", help: "stop the node and remove its state", run: nodeDown},
		{name: "status", help: "say how each component is; fails unless the node is healthy", run: nodeStatus},
		{name: "kubeconfig", help: "print the path of the node's kubeconfig", run: nodeKubeconfig},
		{name: "kubectl", arguments: "ARGUMENT...", help: "run the matching kubectl on the node (or on KUBECONFIG, if set)", run: kubectl},
		{name: "node", hidden: true, commands: []command{
			{name: "init", hidden: true, run: nodeInit},
			{name: "supervise", hidden: true, run: nodeSupervise},
		}},
	}
}

// nodeFlags returns the flags that all commands about the node have.
func nodeFlags(name string) (flags *flag.FlagSet, dir *string) {
	flags = flag.NewFlagSet("local-cluster "+name, flag.ContinueOnError)
	return flags, flags.String("dir", node.Directory(), "`folder` of the node (also RAY_LOCAL_CLUSTER_DIR)")
}

func nodeUp(log *progress.Log, args []string) error {
	flags, dir := nodeFlags("up")
	var versions list
	flags.Var(&versions, "ray-version", "`version` of Ray to have an image of (may be repeated; default "+images.DefaultRayVersion+")")
	noRay := flags.Bool("no-ray", false, "have no image of Ray")
	subnet := flags.String("subnet", network.DefaultSubnet, "IPv4 `network` of 16 bits for pods, services and the node")
	timeout := flags.Duration("timeout", 3*time.Minute, "how long the node may take to be ready, without building")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	versions = orDefault(versions)
	if *noRay {
		versions = nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	err = node.Up(context.Background(), log, node.Options{
		Dir: *dir, Subnet: *subnet, RayVersions: versions, Timeout: *timeout,
		InitCommand: append([]string{self}, node.InitArguments(*dir)...),
	})
	if err != nil {
		return err
	}
	fmt.Println(node.Kubeconfig(*dir))
	return nil
}

func nodeDown(log *progress.Log, args []string) error {
	flags, dir := nodeFlags("down")
	all := flags.Bool("all", false, "remove the images that the node holds, too")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	return node.Down(log, *dir, *all)
}

func nodeStatus(_ *progress.Log, args []string) error {
	flags, dir := nodeFlags("status")
	output := flags.String("output", "text", "text or json")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	status := node.Inspect(context.Background(), *dir)
	if *output == "json" {
		if err := json.NewEncoder(os.Stdout).Encode(status); err != nil {
			return err
		}
	} else {
		printStatus(status)
	}
	if !status.Healthy {
		return exitCode(1)
	}
	return nil
}

func printStatus(status node.Status) {
	for _, c := range status.Components {
		running := "dead"
		if c.Running {
			running = "running"
		}
		fmt.Printf("%-24s %-8s pid %-7d restarts %d  %s\n", c.Name, running, c.PID, c.Restarts, c.Log)
	}
	if status.Running {
		fmt.Printf("age %s, server %s\nkubeconfig %s\n", time.Since(status.Since).Round(time.Second), status.Server, status.Kubeconfig)
	}
	if status.Healthy {
		fmt.Println("healthy")
	} else {
		fmt.Printf("not healthy: %s\n", status.Problem)
	}
}

func nodeKubeconfig(_ *progress.Log, args []string) error {
	flags, dir := nodeFlags("kubeconfig")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	fmt.Println(node.Kubeconfig(*dir))
	return nil
}

// kubectl becomes kubectl: a user's Ctrl-C, input and terminal are then its own.
func kubectl(log *progress.Log, args []string) error {
	binary, err := gobuild.ControlPlane.Binary(log)
	if err != nil {
		return err
	}
	if os.Getenv("KUBECONFIG") == "" {
		if err := os.Setenv("KUBECONFIG", node.Kubeconfig(node.Directory())); err != nil {
			return err
		}
	}
	return syscall.Exec(binary, append([]string{filepath.Base(binary), "kubectl"}, args...), os.Environ())
}

func nodeInit(_ *progress.Log, args []string) error {
	flags, dir := nodeFlags("node init")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return node.Init(*dir, append([]string{self}, node.SuperviseArguments(*dir)...))
}

func nodeSupervise(log *progress.Log, args []string) error {
	flags, dir := nodeFlags("node supervise")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	return node.Supervise(*dir, log)
}
