package main

import (
	"flag"

	"localcluster/internal/gobuild"
	"localcluster/internal/progress"
)

func buildCommand() command {
	return command{name: "build", arguments: "[--only PART]", help: "fill the caches without starting anything", run: runBuild}
}

func runBuild(log *progress.Log, args []string) error {
	flags := flag.NewFlagSet("local-cluster build", flag.ContinueOnError)
	if err := parse(flags, args, false); err != nil {
		return err
	}
	_, err := gobuild.ControlPlane.Binary(log)
	return err
}
