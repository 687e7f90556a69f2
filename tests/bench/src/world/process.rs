//! What the kernel says about a process.

use anyhow::Context;

/// Clock ticks a second in `/proc`; a constant of Linux's interface.
const TICKS: f64 = 100.0;

/// Memory of a process, MiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Resident, all kinds.
    pub(crate) resident: f64,
    /// Resident and anonymous: heap and stacks, without the pages of the binary.
    pub(crate) anonymous: f64,
    /// The most that was ever resident since start or [`forget_peak`].
    pub(crate) peak: f64,
}

/// Reads `/proc/PID/status`.
///
/// # Errors
///
/// There is no such process.
pub(crate) fn memory(pid: u32) -> anyhow::Result<Memory> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let mebibytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kibibytes.map(|number| number / 1024.0).with_context(|| format!("no {key} in the status of process {pid}"))
    };
    Ok(Memory { resident: mebibytes("VmRSS:")?, anonymous: mebibytes("RssAnon:")?, peak: mebibytes("VmHWM:")? })
}

/// Lets the peak start anew.
///
/// # Errors
///
/// There is no such process, or it is somebody else's.
pub(crate) fn forget_peak(pid: u32) -> anyhow::Result<()> {
    Ok(std::fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
}

/// CPU time a process used so far, milliseconds, in steps of ten.
///
/// # Errors
///
/// There is no such process.
pub(crate) fn cpu_milliseconds(pid: u32) -> anyhow::Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold anything; after it come state and numbers.
    let (_, rest) = text.rsplit_once(')').context("no process statistics")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).context("no CPU time");
    Ok((ticks(11)? + ticks(12)?) * 1000.0 / TICKS)
}

/// CPU time of processes and all their descendants so far, milliseconds; those that ended meanwhile no longer count.
pub(crate) fn tree_cpu_milliseconds(roots: &[u32]) -> f64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut tree = roots.to_vec();
    let mut next = 0;
    while let Some(pid) = tree.get(next).copied() {
        tree.extend(parents.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child));
        next += 1;
    }
    tree.into_iter().filter_map(|pid| cpu_milliseconds(pid).ok()).sum()
}

fn parent(pid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// How many processes wanted a core lately (one minute's load average).
pub(crate) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_has_memory_and_uses_cpu() {
        let memory = memory(std::process::id()).unwrap();
        assert!(memory.resident > memory.anonymous && memory.peak >= memory.resident * 0.5, "{memory:?}");
        assert!(cpu_milliseconds(std::process::id()).unwrap() >= 0.0);
    }
}
