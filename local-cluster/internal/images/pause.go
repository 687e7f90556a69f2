package images

import (
	"archive/tar"

	"localcluster/internal/cache"
	"localcluster/internal/gobuild"
	"localcluster/internal/oci"
	"localcluster/internal/progress"
)

// PauseName is the image that holds the namespaces of every pod. The name belongs to no registry on purpose: nobody
// shall try to pull it.
const PauseName = "ray-local-cluster.invalid/pause:1"

// Pause returns the pause image, and makes it when the cache has none.
func Pause(log *progress.Log) (oci.Layout, error) {
	binary, err := gobuild.Pause.Binary(log)
	if err != nil {
		return oci.Layout{}, err
	}
	hash, err := cache.HashFile(binary)
	if err != nil {
		return oci.Layout{}, err
	}
	key := new(cache.Key).Text(recipe, PauseName, hash).String()
	dir, err := cache.Entry{Name: "image-pause", Key: key}.Get(nil, func(dir string) error {
		layout := oci.Layout{Dir: dir}
		layer, err := layout.AddLayer(func(layer *tar.Writer) error { return oci.AddFile(layer, binary, "pause", 0o755) })
		if err != nil {
			return err
		}
		return layout.Finish(oci.Config{User: "65535:65535", Entrypoint: []string{"/pause"}}, []oci.Descriptor{layer}, PauseName)
	})
	return oci.Layout{Dir: dir}, err
}
