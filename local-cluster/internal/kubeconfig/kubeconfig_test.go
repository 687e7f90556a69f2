package kubeconfig

import (
	"strings"
	"testing"

	"localcluster/internal/certs"
)

func TestKubeconfigHoldsEverything(t *testing.T) {
	got := Config{
		Name: "c", Server: "https://127.0.0.1:1", Authority: []byte("ca"),
		User: certs.Pair{Certificate: []byte("cert"), Key: []byte("key")},
	}.YAML()
	for _, want := range []string{"server: https://127.0.0.1:1\n", "certificate-authority-data: Y2E=\n",
		"client-certificate-data: Y2VydA==\n", "client-key-data: a2V5\n", "current-context: c\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
