//! Child processes that end with us, however we end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, bail};

/// Starts the program, prints its process id, waits for the end of standard input (which comes when our process ends, even
/// by SIGKILL), then ends the program and waits for it.
///
/// The program gets the same standard input: some of those started here end with it by themselves.
const GUARD: &str =
    r#"exec 3<&0; "$@" <&3 3<&- & pid=$!; echo "$pid"; cat <&3 >/dev/null; kill "$pid" 2>/dev/null; wait "$pid""#;

/// A program that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Child,
    /// The program's process id.
    pub(crate) pid: u32,
    lines: mpsc::Receiver<String>,
    name: String,
}

impl Guarded {
    /// Starts a program with arguments and environment; what it says on standard error goes to `log`.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
        log: &Path,
    ) -> anyhow::Result<Self> {
        let name = program.display().to_string();
        let log = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard"])
            .arg(program)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let output = guard.stdout.take().context("no standard output")?;
        let (sender, lines) = mpsc::channel();
        // Read to the end, or the program would block on a full pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut guarded = Self { guard, pid: 0, lines, name };
        guarded.pid = guarded.line(Duration::from_secs(5))?.parse().context("the guard printed no process id")?;
        Ok(guarded)
    }

    /// The next line of its standard output.
    ///
    /// # Errors
    ///
    /// None came in time, or it ended.
    pub(crate) fn line(&self, patience: Duration) -> anyhow::Result<String> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(line),
            Err(mpsc::RecvTimeoutError::Timeout) => bail!("{} said nothing for {} s", self.name, patience.as_secs()),
            Err(mpsc::RecvTimeoutError::Disconnected) => bail!("{} ended; its log says why", self.name),
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
