package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"localcluster/internal/apicluster"
	"localcluster/internal/gobuild"
	"localcluster/internal/progress"
)

func apiCommands() command {
	return command{name: "api", commands: []command{
		{name: "up", arguments: "--name NAME", help: "start a Kubernetes API without nodes, in the background", run: apiUp},
		{name: "run", arguments: "[--name NAME]", help: "the same in the foreground; ends with standard input or the parent process", run: apiRun},
		{name: "down", arguments: "--name NAME", help: "stop one", run: apiDown},
		{name: "list", help: "list them", run: apiList},
		{name: "supervise", hidden: true, run: apiSupervise},
	}}
}

// apiFlags are those of up, run and supervise.
type apiFlags struct {
	options apicluster.Options
	output  string
}

func (f *apiFlags) parse(name string, args []string) error {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&f.options.Name, "name", "", "`name` of the cluster")
	flags.IntVar(&f.options.Port, "port", 0, "`port` of the API server on 127.0.0.1; 0 takes a free one")
	flags.Var((*list)(&f.options.Without), "without", "leave out a `component`: scheduler or controller-manager (may be repeated)")
	flags.StringVar(&f.options.AuditLog, "audit-log", "", "write one JSON line a request to this `file` (level Metadata)")
	flags.DurationVar(&f.options.Timeout, "timeout", 2*time.Minute, "how long the cluster may take to be ready")
	flags.StringVar(&f.output, "output", "text", "text or json; json prints name, server, kubeconfig, dir and pid")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	for i, name := range f.options.Without {
		if !strings.HasPrefix(name, "kube-") {
			f.options.Without[i] = "kube-" + name
		}
		if !slices.Contains(apicluster.Optional, f.options.Without[i]) {
			return fmt.Errorf("cannot leave out %q, only the scheduler and the controller-manager", name)
		}
	}
	if f.output != "text" && f.output != "json" {
		return fmt.Errorf("unknown output %q", f.output)
	}
	if f.options.AuditLog != "" {
		path, err := filepath.Abs(f.options.AuditLog)
		if err != nil {
			return err
		}
		f.options.AuditLog = path
	}
	return nil
}

// arguments are the flags again, for the supervisor in the background.
func (f *apiFlags) arguments() []string {
	arguments := []string{
		"--name=" + f.options.Name, "--port=" + strconv.Itoa(f.options.Port),
		"--audit-log=" + f.options.AuditLog, "--timeout=" + f.options.Timeout.String(),
	}
	for _, name := range f.options.Without {
		arguments = append(arguments, "--without="+name)
	}
	return arguments
}

func (f *apiFlags) print(state apicluster.State) error {
	if f.output == "json" {
		// One line: a program that starts "api run" reads a line, not until the end.
		return json.NewEncoder(os.Stdout).Encode(state)
	}
	_, err := fmt.Println(state.Kubeconfig)
	return err
}

func apiUp(log *progress.Log, args []string) error {
	var f apiFlags
	if err := f.parse("local-cluster api up", args); err != nil {
		return err
	}
	if err := apicluster.CheckName(f.options.Name); err != nil {
		return err
	}
	if _, err := gobuild.ControlPlane.Binary(log); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	supervise := append([]string{self, "api", "supervise"}, f.arguments()...)
	state, err := apicluster.Up(log, f.options.Name, f.options.Timeout, supervise)
	if err != nil {
		return err
	}
	return f.print(state)
}

func apiRun(log *progress.Log, args []string) error {
	var f apiFlags
	if err := f.parse("local-cluster api run", args); err != nil {
		return err
	}
	if f.options.Name == "" {
		f.options.Name = "run-" + strings.ToLower(rand.Text()[:12])
	}
	f.options.Bound = true
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	endWithParent(cancel)
	return apiKeep(ctx, log, f)
}

// endWithParent calls end when standard input ends or the parent process does.
func endWithParent(end func()) {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end()
	}()
	onParentEnd(end)
}

// onParentEnd calls end when the parent process ends. A parent-death signal would be simpler, but comes when the
// parent's *thread* ends, and test runners start us from threads that come and go.
func onParentEnd(end func()) {
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			time.Sleep(100 * time.Millisecond)
		}
		end()
	}()
}

func apiSupervise(log *progress.Log, args []string) error {
	var f apiFlags
	if err := f.parse("local-cluster api supervise", args); err != nil {
		return err
	}
	return apiKeep(context.Background(), log, f)
}

// apiKeep runs the cluster until ctx ends or a signal asks for the end.
func apiKeep(ctx context.Context, log *progress.Log, f apiFlags) error {
	if err := apicluster.CheckName(f.options.Name); err != nil {
		return err
	}
	binary, err := gobuild.ControlPlane.Binary(log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	return apicluster.Run(ctx, log, binary, f.options, f.print)
}

func apiDown(log *progress.Log, args []string) error {
	flags := flag.NewFlagSet("local-cluster api down", flag.ContinueOnError)
	var names list
	flags.Var(&names, "name", "`name` of the cluster (may be repeated)")
	all := flags.Bool("all", false, "stop all of them")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	if *all {
		states, err := apicluster.List()
		if err != nil {
			return err
		}
		for _, state := range states {
			names = append(names, state.Name)
		}
	} else if len(names) == 0 {
		return errors.New("which one? --name NAME or --all")
	}
	for _, name := range names {
		if err := apicluster.CheckName(name); err != nil {
			return err
		}
		if err := log.Step("api "+name, "stopping", "down", func() error { return apicluster.Down(name) }); err != nil {
			return err
		}
	}
	return nil
}

func apiList(_ *progress.Log, args []string) error {
	flags := flag.NewFlagSet("local-cluster api list", flag.ContinueOnError)
	output := flags.String("output", "text", "text or json")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	states, err := apicluster.List()
	if err != nil {
		return err
	}
	if *output == "json" {
		if states == nil {
			states = []apicluster.State{}
		}
		return json.NewEncoder(os.Stdout).Encode(states)
	}
	for _, state := range states {
		running := "dead"
		if state.Running {
			running = "running"
		}
		fmt.Printf("%-20s %-8s %-28s %s\n", state.Name, running, state.Server, state.Kubeconfig)
	}
	return nil
}
