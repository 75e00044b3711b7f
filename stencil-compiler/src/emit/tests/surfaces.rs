//! Kernels whose fields are surfaces.

use super::fixtures::heat;
use super::*;

/// The statements are the same; values are found along the axes, and arrays beside surfaces by their addresses.
#[test]
fn cuda_of_surfaces() {
    let mut kernel = heat(LaunchKind::Blocks);
    let plain = f32_text(&kernel);
    assert!(!plain.contains("urface"), "{plain}");
    for buffer in &mut kernel.buffers {
        buffer.surface = true;
    }
    let text = f32_text(&kernel);
    assert_eq!(text, include_str!("surfaces.cu"));
    // A buffer that is not a surface is read as before, and the cell is declared both ways.
    kernel.buffers[1].surface = false;
    let mixed = f32_text(&kernel);
    let line = |of: &str, start: &str| {
        let found = of.lines().find(|line| line.trim().starts_with(start));
        found.unwrap_or_default().trim().to_string()
    };
    let name = &kernel.buffers[1].name;
    assert_eq!(line(&mixed, &format!("{name}[")), line(&plain, &format!("{name}[")));
    assert!(mixed.contains("read_value(") && !mixed.contains("write_value("));
}

/// All patches stand in one surface.
#[test]
fn cuda_of_surfaces_over_many_patches() {
    let mut kernel = heat(LaunchKind::Blocks);
    kernel.value_bytes = 8;
    kernel.buffers[0].surface = true;
    let source = cuda_over(Patches::Many, &kernel, Precision::F64).unwrap();
    for part in [
        "const int count0, const int count1, const int rows, const int planes) {",
        "const int from1 = first1 + number / count0 % count1 * rows;",
        "__hiloint2double(halves.y, halves.x)",
        " + from2;",
    ] {
        assert!(source.text.contains(part), "{part}\n{}", source.text);
    }
    let moved = |name: &str| source.text.contains(&format!("  {name} += patch;"));
    let names = kernel.buffers.iter().map(|b| moved(&b.name));
    assert_eq!(names.collect::<Vec<_>>(), [false, true]);
}
