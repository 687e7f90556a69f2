package node

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"localcluster/internal/network"
)

func testConfig(t *testing.T) Config {
	t.Helper()
	plan, err := network.NewPlan(network.DefaultSubnet)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Dir: "/var/lib/x", Network: plan, ControlPlaneBinary: "/cache/control-plane", NodeBinary: "/cache/node"}
}

func TestConfigSurvivesTheJourneyThroughAFile(t *testing.T) {
	config := testConfig(t)
	content, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	var again Config
	if err := json.Unmarshal(content, &again); err != nil || again != config {
		t.Fatalf("got %+v, %v", again, err)
	}
}

func TestRenderedFilesHoldNoLeftovers(t *testing.T) {
	config := testConfig(t)
	files := map[string]string{
		"kubelet":    config.kubeletConfig(),
		"kube-proxy": config.proxyConfig(),
		"Corefile":   config.corefile(),
		"containerd": config.containerdConfig(`"cri", `),
		"network":    config.podNetwork(),
	}
	for name, content := range files {
		if strings.Contains(content, "%!") || strings.Contains(content, "MISSING") {
			t.Errorf("%s is not rendered properly:\n%s", name, content)
		}
	}
	if !strings.Contains(files["kubelet"], "nodefs.available: 1%\n") {
		t.Error("the kubelet's thresholds are percentages")
	}
	if !strings.Contains(files["containerd"], `disabled_plugins = ["cri", "io.`) {
		t.Error("containerd does not disable what it was told to")
	}
	var parsed struct{ Plugins []map[string]any }
	if err := json.Unmarshal([]byte(files["network"]), &parsed); err != nil || len(parsed.Plugins) != 2 {
		t.Errorf("the pod network is no list of two plug-ins: %v\n%s", err, files["network"])
	}
}

func TestDirectoriesThatTheNodeCouldNotSee(t *testing.T) {
	for _, dir := range []string{"/run/x", "/var/lib/kubelet", "/var/log/../run", "relative", "/x/"} {
		if CheckDirectory(dir) == nil {
			t.Errorf("%s must be refused", dir)
		}
	}
	for _, dir := range []string{"/var/lib/ray-local-cluster/node", "/runaway"} {
		if err := CheckDirectory(dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestInitIsRecognisedByItsCommandLine(t *testing.T) {
	line := strings.Join(append([]string{"/somewhere/local-cluster"}, InitArguments("/var/lib/x")...), "\x00") + "\x00"
	if dir, ok := initFolder(line); !ok || dir != "/var/lib/x" {
		t.Fatalf("got %q, %v", dir, ok)
	}
	for _, other := range []string{"", "vi\x00node\x00init\x00notes", "x\x00node\x00supervise\x00--dir=/var/lib/x\x00"} {
		if _, ok := initFolder(other); ok {
			t.Errorf("%q is no Init", other)
		}
	}
}

func TestMountsBelowAreOurs(t *testing.T) {
	got := mountsBelow(`21 1 8:1 / / rw - ext4 /dev/x rw
40 21 0:5 / /var/lib/x/kubelet/pods/a rw - tmpfs tmpfs rw
41 21 0:5 / /var/lib/x/with\040space rw - tmpfs tmpfs rw
42 21 0:5 / /var/lib/xy rw - tmpfs tmpfs rw
43 21 0:5 / /var/lib/x rw - tmpfs tmpfs rw
`, "/var/lib/x")
	if want := []string{"/var/lib/x/kubelet/pods/a", "/var/lib/x/with space"}; !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestProcessIDsInsideAndOutside(t *testing.T) {
	outer, inner, ok := parseNSpid("Name:\tx\nNSpid:\t4242\t17\nNSsid:\t1\t1\n")
	if !ok || outer != 4242 || inner != 17 {
		t.Fatalf("got %d, %d, %v", outer, inner, ok)
	}
	if _, _, ok := parseNSpid("Name:\tx\n"); ok {
		t.Fatal("there is none")
	}
}

func TestRestartsEndWhenTheyAreTooMany(t *testing.T) {
	now := time.Now()
	var ends []time.Time
	for i := range maxRestarts {
		ends = append(ends, now.Add(time.Duration(i)*time.Second))
	}
	last := ends[len(ends)-1]
	if !tooOften(ends, last) {
		t.Error("many ends within seconds are too many")
	}
	if tooOften(ends[1:], last) {
		t.Error("one less is not")
	}
	if tooOften(ends, now.Add(restartWindow+time.Minute)) {
		t.Error("ends of long ago do not count")
	}
}

func TestHeldImagesAreComparedByDigest(t *testing.T) {
	listing := "REF TYPE DIGEST SIZE PLATFORMS LABELS\n" +
		"docker.io/rayproject/ray:2.60.0 application/vnd.oci.image.manifest.v1+json sha256:aa 600.0 MiB linux/amd64 -\n"
	if !holdsAll(listing, map[string]string{"docker.io/rayproject/ray:2.60.0": "sha256:aa"}) {
		t.Error("it is held")
	}
	if holdsAll(listing, map[string]string{"docker.io/rayproject/ray:2.60.0": "sha256:bb"}) {
		t.Error("another image under that name is held")
	}
	if holdsAll(listing, map[string]string{"docker.io/rayproject/ray:2.60.0": "sha256:aa", "other:1": "sha256:aa"}) {
		t.Error("one of the names is missing")
	}
}
