// Package oci writes container images in the OCI image layout, without a container engine.
//
// The same input gives the same bytes: nothing depends on the clock, and files are written in the order of their
// names. Layers are not compressed, because the images only ever travel from one folder of a disk to another.
package oci

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
)

const (
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	// nameAnnotation is where containerd's import looks for the name to store an image under.
	nameAnnotation = "io.containerd.image.name"
)

// Config says how a container of the image runs.
type Config struct {
	User       string   `json:"User,omitempty"`
	Env        []string `json:"Env,omitempty"`
	Entrypoint []string `json:"Entrypoint,omitempty"`
	Cmd        []string `json:"Cmd,omitempty"`
	WorkingDir string   `json:"WorkingDir,omitempty"`
}

// Descriptor points to a blob of the layout.
type Descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Layout is a folder that holds one image.
type Layout struct{ Dir string }

// AddLayer writes one layer: write is called with the tar to fill.
func (l Layout) AddLayer(write func(*tar.Writer) error) (Descriptor, error) {
	return l.addBlob(typeLayer, func(out io.Writer) error {
		archive := tar.NewWriter(out)
		if err := write(archive); err != nil {
			return err
		}
		return archive.Close()
	})
}

// AddLayerOf takes a layer over from another layout, sharing the file where the file system allows it.
func (l Layout) AddLayerOf(other Layout, layer Descriptor) error {
	from, to := other.blob(layer.Digest), l.blob(layer.Digest)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	content, err := os.Open(from)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = l.addBlob(typeLayer, func(out io.Writer) error {
		_, err := io.Copy(out, content)
		return err
	})
	return err
}

// Finish writes the configuration, the manifest, and an index that lists the manifest once for each name.
func (l Layout) Finish(config Config, layers []Descriptor, names ...string) error {
	diffIDs := make([]string, len(layers))
	for i, layer := range layers {
		diffIDs[i] = layer.Digest // of the uncompressed tar, which is what the layer is
	}
	configBlob, err := l.addJSON(typeConfig, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": config,
		"rootfs": map[string]any{"type": "layers", "diff_ids": diffIDs},
	})
	if err != nil {
		return err
	}
	manifest, err := l.addJSON(typeManifest, map[string]any{
		"schemaVersion": 2, "mediaType": typeManifest, "config": configBlob, "layers": layers,
	})
	if err != nil {
		return err
	}
	var manifests []Descriptor
	for _, name := range names {
		named := manifest
		named.Annotations = map[string]string{nameAnnotation: name}
		manifests = append(manifests, named)
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": manifests})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "index.json"), index, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.Dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644)
}

// Names returns the names in the index with the digest of the manifest that each stands for.
func (l Layout) Names() (map[string]string, error) {
	var index struct{ Manifests []Descriptor }
	if err := readJSON(filepath.Join(l.Dir, "index.json"), &index); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, manifest := range index.Manifests {
		names[manifest.Annotations[nameAnnotation]] = manifest.Digest
	}
	return names, nil
}

// Layers returns the image's layers, lowest first.
func (l Layout) Layers() ([]Descriptor, error) {
	names, err := l.Names()
	if err != nil {
		return nil, err
	}
	for _, digest := range names {
		var manifest struct{ Layers []Descriptor }
		err := readJSON(l.blob(digest), &manifest)
		return manifest.Layers, err
	}
	return nil, fmt.Errorf("%s holds no image", l.Dir)
}

func readJSON(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// WriteArchive writes the layout as one tar, the form in which images are imported.
func (l Layout) WriteArchive(out io.Writer) error {
	blobs, err := filepath.Glob(filepath.Join(l.Dir, "blobs", "sha256", "*"))
	if err != nil {
		return err
	}
	sort.Strings(blobs)
	archive := tar.NewWriter(out)
	for _, path := range append([]string{filepath.Join(l.Dir, "oci-layout"), filepath.Join(l.Dir, "index.json")}, blobs...) {
		name, err := filepath.Rel(l.Dir, path)
		if err != nil {
			return err
		}
		if err := addContent(archive, &tar.Header{Name: name, Mode: 0o644}, path); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (l Layout) blob(digest string) string {
	return filepath.Join(l.Dir, "blobs", "sha256", digest[len("sha256:"):])
}

func (l Layout) addJSON(mediaType string, object any) (Descriptor, error) {
	return l.addBlob(mediaType, func(out io.Writer) error {
		content, err := json.Marshal(object)
		if err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	})
}

// addBlob writes a blob under a temporary name, since its name is the hash of what is written.
func (l Layout) addBlob(mediaType string, write func(io.Writer) error) (Descriptor, error) {
	dir := filepath.Join(l.Dir, "blobs", "sha256")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Descriptor{}, err
	}
	file, err := os.CreateTemp(l.Dir, "blob")
	if err != nil {
		return Descriptor{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	sum := sha256.New()
	if err := write(io.MultiWriter(file, sum)); err != nil {
		return Descriptor{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return Descriptor{}, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if err := os.Rename(file.Name(), filepath.Join(dir, digest)); err != nil {
		return Descriptor{}, fmt.Errorf("blob %s: %w", digest, err)
	}
	return Descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: info.Size()}, nil
}
