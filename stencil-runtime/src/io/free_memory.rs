//! Memory that is left for this process.

use std::fs;

/// Returns the bytes of memory that this process may still take: the free memory of the machine, of its control group,
/// or of its address space, whichever is least. `None` if the system does not tell.
pub(crate) fn available() -> Option<u64> {
    let all = [of_machine(), of_group(), of_address_space()];
    all.into_iter().flatten().min()
}

fn of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let swap = kilobytes(&text, "SwapFree:").unwrap_or(0);
    Some(kilobytes(&text, "MemAvailable:")?.saturating_add(swap))
}

/// Returns the memory that the control group of this process leaves; its cached files can be given back.
fn of_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let of = |group: &str| {
        let folder = format!("/sys/fs/cgroup{}", group.trim_end_matches('/'));
        let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let (most, now) = (number("memory.max")?, number("memory.current")?);
        let kinds = read("memory.stat").unwrap_or_default();
        let file = |kind: &str| plain(&kinds, kind).unwrap_or(0);
        let given_back = file("inactive_file").saturating_add(file("active_file"));
        Some(most.saturating_sub(now.saturating_sub(given_back)))
    };
    // Within a container the own group is often shown as the root of all.
    let above =
        std::iter::successors(Some(own), |group| group.rsplit_once('/').map(|(above, _)| above));
    above.filter_map(of).min()
}

fn of_address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some(most.saturating_sub(kilobytes(&status, "VmSize:")?))
}

/// Returns the number of a line `NAME   1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    plain(text, name)?.checked_mul(1024)
}

/// Returns the number behind a name at the beginning of a line.
fn plain(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    let mut words = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_what_is_free() {
        if !cfg!(target_os = "linux") {
            return;
        }
        assert!(available().is_some_and(|free| free > 1 << 20));
        let text = "MemTotal: 10 kB\nMemAvailable:    7 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(7 * 1024));
        assert_eq!(kilobytes(text, "SwapFree:"), None);
    }
}
