//! Footprints as pictures: the three planes through the cell that is computed.

use std::collections::BTreeSet;

use stencil_compiler::algorithm::Offset;

/// The planes of two axes that a number of dimensions has, the axis to the right first.
const PLANES: [(&str, usize, usize); 3] = [("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2)];

/// Points in the planes through the own cell, side by side: `#` is read, `o` is the own cell and
/// is read, `+` is the own cell and is not.
pub(super) fn planes(points: &BTreeSet<Offset>, dimension: usize) -> String {
    let radius = points.iter().flatten().map(|c| c.abs()).max().unwrap_or(0);
    let planes: Vec<_> =
        PLANES.iter().filter(|(_, a, b)| *a < dimension && *b < dimension).collect();
    let width = (2 * radius + 1) as usize * 2 - 1;
    let mut out = String::new();
    if dimension == 1 {
        let row: Vec<&str> = (-radius..=radius).map(|x| mark(points, [x, 0, 0])).collect();
        return format!("    x  {}\n", row.join(" "));
    }
    let title = |name: &str| {
        format!("{:<width$}", format!("{name}, {} up", &name[1..]), width = width.max(8))
    };
    let titles: Vec<String> = planes.iter().map(|(name, ..)| title(name)).collect();
    out += &format!("    {}\n", titles.join("    ").trim_end());
    for up in (-radius..=radius).rev() {
        let row = |(_, a, b): &&(&str, usize, usize)| {
            let cells: Vec<&str> = (-radius..=radius)
                .map(|right| {
                    let mut at = [0; 3];
                    (at[*a], at[*b]) = (right, up);
                    mark(points, at)
                })
                .collect();
            format!("{:<width$}", cells.join(" "), width = width.max(8))
        };
        let rows: Vec<String> = planes.iter().map(row).collect();
        out += &format!("    {}\n", rows.join("    ").trim_end());
    }
    out
}

fn mark(points: &BTreeSet<Offset>, at: Offset) -> &'static str {
    match (points.contains(&at), at == [0; 3]) {
        (true, true) => "o",
        (false, true) => "+",
        (true, false) => "#",
        (false, false) => ".",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_stand_side_by_side() {
        let points = BTreeSet::from([[0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 1]]);
        let expected = "    xy, y up    xz, z up    yz, z up
    . . .       . . .       . . #
    . o #       . o #       # o .
    . # .       . . .       . . .
";
        assert_eq!(planes(&points, 3), expected);
        assert_eq!(planes(&BTreeSet::from([[-1, 0, 0]]), 1), "    x  # + .\n");
    }
}
