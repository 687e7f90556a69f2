//! The real `kubectl`, where the real client matters.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::api_cluster::local_cluster;

/// What a `kubectl` said.
#[derive(Debug, Clone)]
pub struct Output {
    /// Whether its exit code was 0.
    pub success: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `kubectl`, with `stdin` if there is any, without holding up the runtime.
///
/// # Panics
///
/// When it cannot be started.
pub async fn kubectl(kubeconfig: &Path, args: &[&str], stdin: Option<String>) -> Output {
    let kubeconfig = kubeconfig.to_owned();
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    tokio::task::spawn_blocking(move || kubectl_blocking(&kubeconfig, &args, stdin.as_deref())).await.unwrap()
}

/// Runs `kubectl`, blocking, and returns its output.
///
/// # Panics
///
/// When it fails.
pub fn kubectl_ok(kubeconfig: &Path, args: &[&str]) -> String {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let output = kubectl_blocking(kubeconfig, &args, None);
    let error: String = output.stderr.chars().take(1000).collect();
    assert!(output.success, "kubectl {}: {error}", args.join(" "));
    output.stdout
}

pub(crate) fn kubectl_blocking(kubeconfig: &Path, args: &[String], stdin: Option<&str>) -> Output {
    let mut child = Command::new(local_cluster())
        .arg("kubectl")
        .args(args)
        .env("KUBECONFIG", kubeconfig)
        .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("local-cluster kubectl starts");
    if let Some(text) = stdin {
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Output { success: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
