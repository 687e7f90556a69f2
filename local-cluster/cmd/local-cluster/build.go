package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"localcluster/internal/apt"
	"localcluster/internal/gobuild"
	"localcluster/internal/images"
	"localcluster/internal/progress"
)

func buildCommand() command {
	return command{name: "build", arguments: "[--only PART]", help: "fill the caches without starting anything", run: runBuild}
}

// defaultParts are built when none is named; kwok is for benchmarks only.
var defaultParts = []string{"control-plane", "node", "images"}

func runBuild(log *progress.Log, args []string) error {
	flags := flag.NewFlagSet("local-cluster build", flag.ContinueOnError)
	var only, versions list
	flags.Var(&only, "only", "build this `part`: control-plane, node, images or kwok (may be repeated)")
	flags.Var(&versions, "ray-version", "`version` of Ray to make an image of (may be repeated; default "+images.DefaultRayVersion+")")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	if len(only) == 0 {
		only = defaultParts
	}
	for _, part := range only {
		if part != "kwok" && !slices.Contains(defaultParts, part) {
			return fmt.Errorf("unknown part %q", part)
		}
	}
	wants := func(part string) bool { return slices.Contains(only, part) }
	return progress.Together(
		func() error {
			// One after the other: each keeps all processors busy, and the second finds the first's packages compiled.
			for _, program := range []gobuild.Program{gobuild.ControlPlane, gobuild.Node, gobuild.Kwok} {
				if wants(program.Name) {
					if _, err := program.Binary(log); err != nil {
						return err
					}
				}
			}
			return nil
		},
		func() error {
			if !wants("images") {
				return nil
			}
			return buildImages(log, versions)
		})
}

func buildImages(log *progress.Log, versions []string) error {
	if os.Getuid() != 0 {
		return errors.New("making images needs root (debootstrap)")
	}
	if err := apt.Install(log); err != nil {
		return err
	}
	if _, err := images.Pause(log); err != nil {
		return err
	}
	for _, version := range orDefault(versions) {
		if _, err := images.Ray(log, version); err != nil {
			return err
		}
	}
	return nil
}

// orDefault returns the versions of Ray that are asked for.
func orDefault(versions []string) []string {
	if len(versions) == 0 {
		return []string{images.DefaultRayVersion}
	}
	return versions
}
