package images

import (
	"slices"
	"strings"
	"testing"
)

func TestScriptsGetTheImagesPython(t *testing.T) {
	for script, want := range map[string]string{
		"#!/some/where/bin/python3.11\nimport ray\n":                                           "#!/usr/bin/python3\nimport ray\n",
		"#!/bin/sh\n'''exec' \"/a very/long/path/python3\" \"$0\" \"$@\"\n' '''\nimport ray\n": "#!/usr/bin/python3\nimport ray\n",
		"#!/bin/sh\necho hello\n":                                                              "#!/bin/sh\necho hello\n",
		"\x7fELF python\n":                                                                     "\x7fELF python\n",
	} {
		if got := string(withImagePython([]byte(script))); got != want {
			t.Errorf("%q became %q, want %q", script, got, want)
		}
	}
}

func TestRayNamesAreThePublicOnes(t *testing.T) {
	want := []string{"docker.io/rayproject/ray:2.60.0", "docker.io/rayproject/ray:2.60.0-py311"}
	if got := RayNames("2.60.0"); !slices.Equal(got, want) {
		t.Fatalf("got %v", got)
	}
}

func TestVersionsThatAreNone(t *testing.T) {
	for _, version := range []string{"", "latest", "2.60", "2.60.0; rm", "2.60.0 other"} {
		if _, err := Ray(nil, version); err == nil || !strings.Contains(err.Error(), "no version") {
			t.Errorf("%q: %v", version, err)
		}
	}
}
