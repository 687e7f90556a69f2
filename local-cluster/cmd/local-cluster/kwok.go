package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"time"

	"localcluster/internal/gobuild"
	"localcluster/internal/kwok"
	"localcluster/internal/progress"
)

func kwokCommand() command {
	return command{name: "kwok", arguments: "--kubeconfig K --nodes N",
		help: "play N nodes on which pods run at once; ends with a signal or the parent process", run: runKwok}
}

func runKwok(log *progress.Log, args []string) error {
	flags := flag.NewFlagSet("local-cluster kwok", flag.ContinueOnError)
	var options kwok.Options
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "`file` that names the cluster")
	flags.IntVar(&options.Nodes, "nodes", 1, "`number` of nodes; each takes 1000 pods")
	flags.BoolVar(&options.Taint, "taint", false, "taint the nodes with kwok.x-k8s.io/node=simulated:NoSchedule")
	flags.DurationVar(&options.Timeout, "timeout", 2*time.Minute, "how long the nodes may take to be ready")
	keep := flags.Bool("keep", false, "stay when the parent process ends")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	if options.Kubeconfig == "" {
		return errors.New("--kubeconfig is needed")
	}
	kubectl, err := gobuild.ControlPlane.Binary(log)
	if err != nil {
		return err
	}
	options.Kubectl = []string{kubectl, "kubectl"}
	if options.Binary, err = gobuild.Kwok.Binary(log); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	if !*keep {
		onParentEnd(stop)
	}
	// One line on standard output tells a program that it can begin.
	return kwok.Run(ctx, log, options, func() error {
		return json.NewEncoder(os.Stdout).Encode(map[string]int{"nodes": options.Nodes, "pid": os.Getpid()})
	})
}
