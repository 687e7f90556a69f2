//! Prints the custom resource definition of `RayCluster`, or writes it to the file given as argument.

use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crdgen: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let yaml = ray_api::crd::ray_cluster_yaml()?;
    match std::env::args_os().nth(1) {
        Some(file) => std::fs::write(file, yaml)?,
        None => print!("{yaml}"),
    }
    Ok(())
}
