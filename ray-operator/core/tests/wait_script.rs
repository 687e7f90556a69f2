//! The script of the init container `wait-gcs-ready`, run for real.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ray_core::build::{GcsWait, PodSlot, worker_pod};
use support::{built, case};

/// The init container's command line, waiting for this port of this machine.
fn command(port: u16) -> Vec<String> {
    let (cluster, config) = built::valid_cluster(&case::case(2)).unwrap();
    let slot = PodSlot { name: "w", ordinal: 1, replica_index: 0 };
    let pod = worker_pod(&cluster, &cluster.groups[0], &config, &slot, GcsWait::UntilHeadAnswers);
    let init = pod.spec.unwrap().init_containers.unwrap().remove(0);
    let script = init.args.unwrap().remove(0);
    let address = "acme-head-svc.golden.svc.cluster.local:6379";
    assert!(script.contains(address));
    let mut words = init.command.unwrap();
    words.push(script.replace(address, &format!("127.0.0.1:{port}")));
    words
}

fn run(words: &[String]) -> Child {
    Command::new(&words[0]).args(&words[1..]).stdout(Stdio::piped()).spawn().unwrap()
}

/// Output of the script, which must end by itself soon after there is a listener.
fn output(mut child: Child) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "still waiting");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    text
}

#[test]
fn it_ends_when_somebody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = output(run(&command(listener.local_addr().unwrap().port())));
    assert!(text.contains(" answers after "), "{text}");
    assert!(!text.contains("waiting"), "{text}");
}

#[test]
fn it_says_what_it_waits_for() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = run(&command(port));
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "nobody listened");
    let _listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let text = output(child);
    assert!(
        text.contains(&format!("waiting for the Ray head at 127.0.0.1:{port} for 0 s: Connection refused")),
        "{text}"
    );
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn without_network_redirections_it_asks_python() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut words = command(listener.local_addr().unwrap().port());
    // A Bash that knows no such path answers like one that was built without them.
    words[3] = words[3].replace("/dev/tcp/", "/no/dev/tcp/");
    let text = output(run(&words));
    assert!(text.contains(" answers after "), "{text}");
}
