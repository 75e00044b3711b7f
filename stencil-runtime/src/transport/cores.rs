//! The cores that ranks of one host share.

use std::collections::BTreeSet;
use std::fs;

/// Returns the cores that this process may use, as the system lists them, such as `0-3,8`.
pub(super) fn allowed() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_string())
}

/// Returns the number of cores for one of several processes: a core that several may use counts for each in part. `None`
/// if a list cannot be read.
pub(super) fn share(own: &str, all: &[&str]) -> Option<usize> {
    let own = read(own)?;
    let all: Vec<BTreeSet<usize>> = all.iter().map(|list| read(list)).collect::<Option<_>>()?;
    let sharers = |core: &usize| all.iter().filter(|list| list.contains(core)).count().max(1);
    let share: f64 = own.iter().map(|core| 1.0 / sharers(core) as f64).sum();
    Some(((share + 1e-9) as usize).max(1))
}

fn read(list: &str) -> Option<BTreeSet<usize>> {
    let mut cores = BTreeSet::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last]: [usize; 2] = [first.parse().ok()?, last.parse().ok()?];
        cores.extend(first..=last);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_as_processes_are_bound() {
        assert_eq!(share("0-7", &["0-7"]), Some(8));
        assert_eq!(share("0-7", &["0-7", "0-7", "0-7"]), Some(2));
        assert_eq!(share("0-3,8", &["0-3,8", "4-7"]), Some(5));
        // More processes than cores.
        assert_eq!(share("1", &["1", "1", "0"]), Some(1));
        assert_eq!(share("all", &["all"]), None);
        assert!(allowed().is_none_or(|list| read(&list).is_some()));
    }
}
