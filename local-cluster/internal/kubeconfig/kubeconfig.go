// Package kubeconfig writes the files by which clients find a cluster and prove who they are.
package kubeconfig

import (
	"encoding/base64"
	"fmt"
	"os"

	"localcluster/internal/certs"
)

// Config is one cluster, one user and one context; all three carry Name.
type Config struct {
	Name string
	// Server is the API server's URL.
	Server string
	// Authority is the PEM certificate that signs the server's.
	Authority []byte
	User      certs.Pair
}

// YAML renders the configuration with all certificates inside, so that the file can be copied anywhere.
func (c Config) YAML() string {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
users:
- name: %[1]s
  user:
    client-certificate-data: %[4]s
    client-key-data: %[5]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[1]s
current-context: %[1]s
`, c.Name, c.Server, encode(c.Authority), encode(c.User.Certificate), encode(c.User.Key))
}

// Write stores the configuration where only its owner may read it, since it holds a private key.
func (c Config) Write(path string) error {
	return os.WriteFile(path, []byte(c.YAML()), 0o600)
}
