package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"localcluster/internal/oci"
	"localcluster/internal/process"
)

// ctr runs containerd's client in the namespace that the kubelet uses. The socket is a file, so it works inside and
// outside the node alike.
func ctr(ctx context.Context, dir string, input io.Reader, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "ctr", append([]string{"--address", containerdSocket(dir), "--namespace", "k8s.io"}, arguments...)...)
	cmd.Stdin = input
	var errors bytes.Buffer
	cmd.Stderr = &errors
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ctr %s: %w\n%s", strings.Join(arguments, " "), err, strings.TrimSpace(errors.String()))
	}
	return string(output), nil
}

// waitForContainerd returns when containerd answers. ctr itself would wait ten seconds for a socket that is not there,
// however dead containerd is.
func waitForContainerd(ctx context.Context, dir string, alive func() error) error {
	for {
		connection, err := net.Dial("unix", containerdSocket(dir))
		if err == nil {
			connection.Close()
			_, err = ctr(ctx, dir, nil, "version")
		}
		if err == nil {
			return nil
		}
		if dead := alive(); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", containerd, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sweepContainers removes the containers of the last node from what containerd keeps, and leaves the images. It runs a
// containerd without the part that talks to kubelets: that part would take the containers for its own and hold on to
// them. If the store does not let itself be swept, it is thrown away, since all images can be imported again.
func sweepContainers(ctx context.Context, config Config) error {
	if entries, err := os.ReadDir(containerdRoot(config.Dir)); err == nil && len(entries) == 0 {
		return nil
	}
	err := sweep(ctx, config)
	if err == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "throwing the image store away: %v\n", err)
	return emptyFolder(containerdRoot(config.Dir))
}

func sweep(ctx context.Context, config Config) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	spec := config.specs()[containerd]
	spec.Command = []string{"containerd", "--config", config.conf("containerd-sweep.toml")}
	p, err := process.Start(spec)
	if err != nil {
		return err
	}
	defer process.Stop(5*time.Second, p)
	if err := waitForContainerd(ctx, config.Dir, p.Alive); err != nil {
		return err
	}
	containers, err := ctr(ctx, config.Dir, nil, "containers", "list", "--quiet")
	if err != nil {
		return err
	}
	if ids := strings.Fields(containers); len(ids) > 0 {
		_, err = ctr(ctx, config.Dir, nil, append([]string{"containers", "delete"}, ids...)...)
	}
	return err
}

// importLayout gives an image to containerd, unless it has the very same one under the same names.
func importLayout(ctx context.Context, dir string, layout oci.Layout) (imported bool, err error) {
	wanted, err := layout.Names()
	if err != nil {
		return false, err
	}
	listing, err := ctr(ctx, dir, nil, "images", "list")
	if err != nil {
		return false, err
	}
	if holdsAll(listing, wanted) {
		return false, nil
	}
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(layout.WriteArchive(writer)) }()
	_, err = ctr(ctx, dir, reader, "images", "import", "-")
	reader.CloseWithError(errors.New("the import ended"))
	return true, err
}

// holdsAll reads the table of images, whose first and third column are name and digest.
func holdsAll(listing string, wanted map[string]string) bool {
	held := map[string]string{}
	for _, line := range strings.Split(listing, "\n") {
		if fields := strings.Fields(line); len(fields) > 2 {
			held[fields[0]] = fields[2]
		}
	}
	for name, digest := range wanted {
		if held[name] != digest {
			return false
		}
	}
	return true
}

// Load imports image archives (OCI, or as docker save writes them) into a running node, and returns what ctr said.
func Load(ctx context.Context, dir string, archive io.Reader) (string, error) {
	if !Running(dir) {
		return "", errors.New("the node is not up")
	}
	return ctr(ctx, dir, archive, "images", "import", "-")
}
