package oci

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// AddTree adds a folder's content below prefix to a layer, with owners and modes as they are, and without times.
// skip (if not nil) is asked for each path, relative to the folder; a skipped folder is skipped with its content.
func AddTree(layer *tar.Writer, root, prefix string, skip func(path string) bool) error {
	seen := map[uint64]string{} // inode to the first name, for hard links
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		if skip != nil && skip(name) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		return addFile(layer, path, filepath.Join(prefix, name), seen)
	})
}

func addFile(layer *tar.Writer, path, name string, seen map[uint64]string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	header := &tar.Header{Name: name, Mode: int64(stat.Mode & 0o7777), Uid: int(stat.Uid), Gid: int(stat.Gid)}
	switch {
	case info.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
	case info.Mode()&fs.ModeSymlink != 0:
		header.Typeflag = tar.TypeSymlink
		if header.Linkname, err = os.Readlink(path); err != nil {
			return err
		}
	case !info.Mode().IsRegular():
		return nil // devices, sockets and pipes: a container gets its own
	case stat.Nlink > 1 && seen[stat.Ino] != "":
		header.Typeflag, header.Linkname = tar.TypeLink, seen[stat.Ino]
	default:
		seen[stat.Ino] = name
		return addContent(layer, header, path)
	}
	return layer.WriteHeader(header)
}

// AddFile adds one file of this machine's under another name, owned by root.
func AddFile(layer *tar.Writer, path, name string, mode int64) error {
	return addContent(layer, &tar.Header{Name: name, Mode: mode}, path)
}

// AddText adds a small file.
func AddText(layer *tar.Writer, name string, mode int64, content string) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}
	if err := layer.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.WriteString(layer, content)
	return err
}

// AddDir adds an empty folder.
func AddDir(layer *tar.Writer, name string, mode int64, uid, gid int) error {
	return layer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: uid, Gid: gid})
}

// AddLink adds a symbolic link.
func AddLink(layer *tar.Writer, name, target string) error {
	return layer.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
}

// addContent adds a regular file with the content of the one at path.
func addContent(archive *tar.Writer, header *tar.Header, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, file)
	return err
}
