//! Words of messages: numbers with nouns, lists.

/// A number with a noun, in the singular or the plural of its last word: `1 launch`, `2 launches`.
///
/// ```
/// use stencil_compiler::diag::counted;
/// assert_eq!(counted(1, "launch"), "1 launch");
/// assert_eq!(counted(0, "ghost cell"), "0 ghost cells");
/// assert_eq!(counted(3, "axis"), "3 axes");
/// assert_eq!(counted(2, "boundary"), "2 boundaries");
/// ```
pub fn counted(number: impl TryInto<u128>, word: &str) -> String {
    // A negative number reads as none: these messages count no such things.
    let number = number.try_into().unwrap_or(0);
    match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {}", plural(word)),
    }
}

/// The plural of a noun, or of several words that end with one.
fn plural(word: &str) -> String {
    let before = |end: &str| word.strip_suffix(end).map(str::to_string);
    if let Some(stem) = before("axis") {
        return stem + "axes";
    }
    let after_consonant = before("y").filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    if let Some(stem) = after_consonant {
        return stem + "ies";
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end));
    format!("{word}{}", if hisses { "es" } else { "s" })
}

/// Joins names with commas, each name once, in the order of their first occurrence.
///
/// ```
/// use stencil_compiler::diag::listed;
/// assert_eq!(listed(["Wave", "Heat", "Wave"]), "Wave, Heat");
/// ```
pub fn listed<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let mut once: Vec<N> = Vec::new();
    for name in names {
        if once.iter().all(|known| known.as_ref() != name.as_ref()) {
            once.push(name);
        }
    }
    let once: Vec<&str> = once.iter().map(AsRef::as_ref).collect();
    once.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_those_of_english() {
        for (one, many) in [
            ("launch", "2 launches"),
            ("pass", "2 passes"),
            ("flux", "2 fluxes"),
            ("patch", "2 patches"),
            ("array", "2 arrays"),
            ("entry", "2 entries"),
            ("kernel", "2 kernels"),
            ("byte", "2 bytes"),
            ("first axis", "2 first axes"),
        ] {
            assert_eq!(counted(2_u64, one), many);
            assert_eq!(counted(1_usize, one), format!("1 {one}"));
        }
        assert_eq!(counted(0, "step"), "0 steps");
    }
}
