package certs

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
)

func TestServerAndClientCertificatesVerify(t *testing.T) {
	authority, err := NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)

	server, err := authority.Server("apiserver", "localhost", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	leaf := parse(t, server)
	for _, host := range []string{"localhost", "127.0.0.1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.2"}); err == nil {
		t.Error("the certificate must not hold for another address")
	}

	client, err := authority.Client("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	leaf = parse(t, client)
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: usage}); err != nil {
		t.Error(err)
	}
	if leaf.Subject.CommonName != "admin" || len(leaf.Subject.Organization) != 1 || leaf.Subject.Organization[0] != "system:masters" {
		t.Errorf("subject is %v", leaf.Subject)
	}
}

func parse(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}
