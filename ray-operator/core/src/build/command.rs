//! What the Ray container runs.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Container;

/// Parameters of `ray start` that take `true` or `false` as a value; every other boolean is a bare flag.
const BOOLEAN_VALUED: [&str; 3] = ["log-color", "include-dashboard", "include-log-monitor"];

/// Raises the limit of open files before Ray starts; the variable is KubeRay's (1.7) way to choose the number.
const ULIMIT: &str = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ";

/// The `ray start` line for the given parameters, with KubeRay's spacing: one blank on either side of each flag.
///
/// Values are inserted as they are, so that `$VARIABLE` and quoting by the user keep working in the shell.
pub(super) fn ray_start(head: bool, params: &BTreeMap<String, String>) -> String {
    let mut line = String::from(if head { "ray start --head " } else { "ray start " });
    for (key, value) in params {
        let boolean = if BOOLEAN_VALUED.contains(&key.as_str()) { None } else { as_boolean(value) };
        match boolean {
            Some(true) => line.push_str(&format!(" --{key} ")),
            Some(false) => {}
            None => line.push_str(&format!(" --{key}={value} ")),
        }
    }
    line
}

fn as_boolean(value: &str) -> Option<bool> {
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// The shell that runs generated commands.
pub(super) fn shell(login: bool) -> Vec<String> {
    ["/bin/bash", if login { "-cl" } else { "-c" }, "--"].map(str::to_owned).to_vec()
}

/// Makes the container start Ray, unless the user starts it: a command that mentions `ray start` stays as it is.
///
/// Any other command of the user runs first; `;` inside [`ULIMIT`] means Ray starts even if it fails (as in KubeRay).
pub(super) fn start_ray(container: &mut Container, ray_start: &str, login: bool) {
    let user: String = container
        .command
        .iter()
        .flatten()
        .chain(container.args.iter().flatten())
        .map(|word| format!(" {word} "))
        .collect();
    if user.contains("ray start") {
        return;
    }
    let first = if user.is_empty() { String::new() } else { format!("{user} && ") };
    container.command = Some(shell(login));
    container.args = Some(vec![format!("{first}{ULIMIT}{ray_start}")]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn params(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn flags() {
        for (given, expected) in [
            (params(&[]), "ray start "),
            (params(&[("block", "true")]), "ray start  --block "),
            (params(&[("block", "TRUE"), ("a", "1")]), "ray start  --a=1  --block "),
            (params(&[("block", "False")]), "ray start "),
            (params(&[("log-color", "true")]), "ray start  --log-color=true "),
            (params(&[("include-dashboard", "false")]), "ray start  --include-dashboard=false "),
            (params(&[("num-cpus", "")]), "ray start  --num-cpus= "),
            (params(&[("b", "x y"), ("B", "$X")]), "ray start  --B=$X  --b=x y "),
        ] {
            assert_eq!(ray_start(false, &given), expected);
        }
        assert_eq!(ray_start(true, &params(&[])), "ray start --head ");
    }

    #[test]
    fn commands() {
        let start = "ray start ";
        for (command, args, expected) in [
            (None, None, Some(format!("{ULIMIT}{start}"))),
            (Some(vec!["echo"]), Some(vec!["a b"]), Some(format!(" echo  a b  && {ULIMIT}{start}"))),
            // As two words it is not recognised, as in KubeRay.
            (Some(vec!["ray", "start"]), None, Some(format!(" ray  start  && {ULIMIT}{start}"))),
            (Some(vec!["bash", "-c", "ray start --head"]), None, None),
            (None, Some(vec!["echo ray start"]), None),
        ] {
            let own = |words: Option<Vec<&str>>| words.map(|w| w.into_iter().map(str::to_owned).collect::<Vec<_>>());
            let mut container = Container { command: own(command), args: own(args), ..Container::default() };
            let before = container.clone();
            start_ray(&mut container, start, true);
            match expected {
                Some(line) => {
                    assert_eq!(container.command, Some(shell(true)));
                    assert_eq!(container.args, Some(vec![line]));
                }
                None => assert_eq!(container, before),
            }
        }
    }

    proptest! {
        #[test]
        fn every_parameter_appears_once_in_order(given in prop::collection::btree_map("[a-z][a-z-]{0,6}", "[0-9a-z=$ ]{0,5}", 0..6)) {
            let line = ray_start(false, &given);
            let shown: Vec<&str> = line.split("  --").skip(1).map(|flag| flag.split(['=', ' ']).next().unwrap()).collect();
            let expected: Vec<&str> = given
                .iter()
                .filter(|(key, value)| BOOLEAN_VALUED.contains(&key.as_str()) || value.as_str() != "false")
                .map(|(key, _)| key.as_str())
                .collect();
            prop_assert_eq!(shown, expected);
        }
    }
}
