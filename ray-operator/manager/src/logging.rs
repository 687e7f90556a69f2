//! The log.

use tracing_subscriber::EnvFilter;

use crate::options::{LogEncoder, Options};

/// Starts the log; `RUST_LOG` chooses what is in it.
pub fn start(options: &Options) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,kube=warn,hyper=warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    match options.log_stdout_encoder {
        LogEncoder::Text => log.with_ansi(false).init(),
        LogEncoder::Json => log.json().init(),
    }
}
