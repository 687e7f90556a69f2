package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"localcluster/internal/images"
	"localcluster/internal/node"
	"localcluster/internal/oci"
	"localcluster/internal/progress"
)

func imageCommands() command {
	return command{name: "image", commands: []command{
		{name: "load", arguments: "ARCHIVE...", help: "give image archives (OCI or docker save) to the node", run: imageLoad},
		{name: "binary", arguments: "--binary PATH --name NAME", help: "make an image of one executable and its libraries", run: imageBinary},
	}}
}

func imageLoad(log *progress.Log, args []string) error {
	flags, dir := nodeFlags("image load")
	if err := parse(flags, args, true); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("which archives?")
	}
	for _, path := range flags.Args() {
		if err := load(log, *dir, path); err != nil {
			return err
		}
	}
	return nil
}

func load(log *progress.Log, dir, path string) error {
	return log.Step("image", "importing "+path, "imported "+path, func() error {
		archive, err := os.Open(path)
		if err != nil {
			return err
		}
		defer archive.Close()
		_, err = node.Load(context.Background(), dir, archive)
		return err
	})
}

// hostAuthorities is where Debian keeps the certificate authorities that this machine trusts.
const hostAuthorities = "/etc/ssl/certs/ca-certificates.crt"

func imageBinary(log *progress.Log, args []string) error {
	flags, dir := nodeFlags("image binary")
	binary := flags.String("binary", "", "`path` of the executable")
	name := flags.String("name", "", "`name` of the image, with or without a tag")
	entrypoint := flags.String("entrypoint", "/manager", "`path` of the executable in the image")
	output := flags.String("output", "", "write the archive to this `file`")
	loadIt := flags.Bool("load", false, "give the image to the node")
	if err := parse(flags, args, false); err != nil {
		return err
	}
	switch {
	case *binary == "" || *name == "":
		return errors.New("--binary and --name are needed")
	case *output == "" && !*loadIt:
		return errors.New("what for? --output FILE, --load, or both")
	}
	temporary, err := os.MkdirTemp("", "ray-local-cluster-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	layout := oci.Layout{Dir: filepath.Join(temporary, "layout")}
	if err := os.Mkdir(layout.Dir, 0o755); err != nil {
		return err
	}
	if err := images.Binary(layout, *binary, *name, *entrypoint, hostAuthorities); err != nil {
		return err
	}
	archive := *output
	if archive == "" {
		archive = filepath.Join(temporary, "archive.tar")
	}
	if err := writeArchive(layout, archive); err != nil {
		return err
	}
	if *loadIt {
		if err := load(log, *dir, archive); err != nil {
			return err
		}
	}
	_, err = fmt.Println(images.FullName(*name))
	return err
}

func writeArchive(layout oci.Layout, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := layout.WriteArchive(file); err != nil {
		return err
	}
	return file.Close()
}
