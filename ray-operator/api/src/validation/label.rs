//! Syntax of label keys and values, as Kubernetes has it.

/// Whether `key` is a name of at most 63 characters, with or without a DNS name and a slash before it.
pub(super) fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_name(name),
        None => is_name(key),
    }
}

/// Whether `value` is empty or a name of at most 63 characters.
pub(super) fn is_value(value: &str) -> bool {
    value.is_empty() || is_name(value)
}

/// Whether `text` is a part of a DNS name: at most 63 lower-case letters, digits and dashes, no dash at either end.
pub(super) fn is_dns_label(text: &str) -> bool {
    text.len() <= 63
        && ends_with_alphanumerics(text)
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn is_dns_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        ends_with_alphanumerics(part) && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

fn is_name(text: &str) -> bool {
    text.len() <= 63
        && ends_with_alphanumerics(text)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn ends_with_alphanumerics(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}
