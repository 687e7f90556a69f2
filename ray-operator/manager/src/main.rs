//! `ray-operator`: runs Ray on Kubernetes.

use clap::Parser;
use ray_operator::options::Options;

// glibc's allocator never gives memory back after a relist; jemalloc does.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Read by jemalloc at start: give freed pages back after a second, from a thread of its own, and keep few arenas, since
/// the process has few busy threads.
#[allow(non_upper_case_globals, unsafe_code, reason = "jemalloc looks for this very symbol")]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static malloc_conf: &[u8; 70] = b"background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,narenas:2\0";

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    ray_operator::logging::start(&options);
    // Both rustls providers may be linked by a dependency one day; choosing here keeps that from becoming a panic.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(options.threads).enable_all().build()?;
    runtime.block_on(ray_operator::run::run(options))
}
