//! The text above the body of a kernel: helpers, parameters, shared memory, thread indices.

use std::fmt::Write;

use super::c_like::{BLOCKS, Printer, THREADS};
use super::dialect::Uses;
use super::functions;
use super::{EmitError, Patches, comment_lines, layouts};
use crate::kernel::WARP;

/// Names that every text of this kind uses for itself.
const RESERVED: &[&str] = &[
    "c",
    "n0",
    "n1",
    "n2",
    "pitch",
    "plane",
    "min",
    "tx",
    "ty",
    "tz",
    "bx",
    "by",
    "bz",
    "leads",
    "i_",
    "shared_",
    "Uniforms",
    "TensorMap",
    "first0",
    "first1",
    "first2",
    "copy_box",
    "expect_bytes",
    "arrive_expecting",
    "copy_16",
    "store_largest",
    "store_smallest",
    "arrive_copies",
    "arrive",
    "wait_phase",
    "init_barrier",
    "fence_barriers",
    "shared_address",
];

/// More of them where a launch covers a part of the blocks of a patch.
const RESERVED_BY_PARTS: &[&str] =
    &["begin0", "begin1", "begin2", "low", "high", "end", "to_low", "to_high", "inside"];

/// More of these where it covers many patches.
const RESERVED_BY_PATCHES: &[&str] =
    &["block", "patch", "number", "stride", "listed", "blocks0", "blocks1", "blocks2"];

/// Names that a text uses for itself.
pub(super) fn reserved(patches: Patches, has_surfaces: bool) -> Vec<&'static str> {
    let mut names = RESERVED.to_vec();
    if patches != Patches::One {
        names.extend(RESERVED_BY_PARTS);
    }
    if patches == Patches::Many {
        names.extend(RESERVED_BY_PATCHES);
    }
    if has_surfaces {
        names.extend(layouts::RESERVED);
    }
    names
}

impl Printer<'_> {
    /// The text above the body.
    pub(super) fn head(&self, patches: Patches) -> Result<String, EmitError> {
        let uses = Uses {
            barriers: !self.kernel.barriers.is_empty(),
            patches: patches == Patches::Many,
            ..self.uses
        };
        let mut out = String::new();
        self.uniforms(&mut out);
        for helper in self.dialect.helpers(&uses, self.precision) {
            out += helper;
            out += "\n";
        }
        out += &functions::definitions(&[self.kernel], self.precision, self.dialect)?;
        for note in &self.kernel.notes {
            comment_lines(note).for_each(|line| out += &format!("// {line}\n"));
        }
        self.signature(patches, &mut out);
        if patches == Patches::Part && self.kernel.sends() {
            // Cells from `low` on that are sent nowhere: none in a patch whose both ends meet.
            out += "  const unsigned inside = high > low ? high - low : 0;\n";
        }
        self.carve(&mut out);
        let blocks = self.blocks(patches, &mut out);
        for (axis, block) in blocks.into_iter().enumerate() {
            let names = [
                (uses.blocks, BLOCKS, &*block),
                (uses.threads, THREADS, self.dialect.thread(axis)),
            ];
            for (used, names, value) in names {
                if used[axis] {
                    out += &format!("  const int {} = {value};\n", names[axis]);
                }
            }
        }
        if uses.arrive {
            out += &format!("  const bool leads = ({}) % {WARP} == 0;\n", self.thread_number());
        }
        if uses.barriers {
            self.barriers(&mut out);
        }
        for queue in &self.kernel.queues {
            // An unknown queue is reported where it is used.
            if let Some(name) = self.names.registers.get(queue.0 as usize) {
                out += &format!("  {} {name} = 0;\n", self.real());
            }
        }
        Ok(out)
    }

    fn uniforms(&self, out: &mut String) {
        if self.names.uniforms.is_empty() {
            return;
        }
        out.push_str("struct Uniforms {\n");
        for name in &self.names.uniforms {
            *out += &format!("  {} {name};\n", self.real());
        }
        *out += &format!("}};\n{}\n\n", self.dialect.uniforms());
    }

    fn signature(&self, patches: Patches, out: &mut String) {
        let mut parameters: Vec<String> = Vec::new();
        for (buffer, name) in self.kernel.buffers.iter().zip(&self.names.buffers) {
            parameters.push(match buffer.surface {
                true => self.dialect.surface(name),
                false => self.dialect.buffer(buffer.mode, self.real(), name),
            });
        }
        parameters.push(
            "const int n0, const int n1, const int n2, const int pitch, const int plane"
                .to_string(),
        );
        if patches == Patches::Part {
            parameters.push("const int begin0, const int begin1, const int begin2".into());
            if self.kernel.sends() {
                // The cells of the patch end before `end`. Those before `low` and from `high` on are ghost cells of
                // others, so many values away.
                parameters.push(
                    "const int low, const int high, const int end, const long long to_low, const long long to_high"
                        .into(),
                );
            }
        }
        if patches == Patches::Many {
            parameters.push(
                "const int* const listed, const int begin0, const int begin1, const int begin2,\n    \
                 const unsigned blocks0, const unsigned blocks1, const unsigned blocks2, const long long stride"
                    .to_string(),
            );
        }
        parameters.extend(self.names.maps.values().map(|name| self.dialect.map(name)));
        let has_surfaces = layouts::has_any(self.kernel);
        if has_surfaces || !self.names.maps.is_empty() {
            parameters.push("const int first0, const int first1, const int first2".to_string());
        }
        if has_surfaces && patches == Patches::Many {
            parameters.push(layouts::OF_PATCHES.to_string());
        }
        *out += &format!(
            "{} {}(\n    {}) {{\n",
            self.dialect.entry(self.kernel),
            self.kernel.name,
            parameters.join(",\n    ")
        );
    }

    /// The indices of the block in its patch. Of many patches, those of a list are covered, each by a box of blocks.
    /// The boxes follow each other along the one axis without a small limit; buffers then begin at the patch of the
    /// block.
    fn blocks(&self, patches: Patches, out: &mut String) -> [String; 3] {
        let own = |axis: usize| self.dialect.block(axis);
        match patches {
            Patches::One => return [0, 1, 2].map(|axis| own(axis).to_string()),
            Patches::Part => return [0, 1, 2].map(|axis| format!("begin{axis} + {}", own(axis))),
            Patches::Many => {}
        }
        *out += &format!("  const unsigned block = {};\n", self.dialect.block(0));
        let has_surfaces = layouts::has_any(self.kernel);
        *out += "  const int number = listed[block / (blocks0 * blocks1 * blocks2)];\n";
        *out += "  const long long patch = number * stride;\n";
        for (buffer, name) in self.kernel.buffers.iter().zip(&self.names.buffers) {
            if !buffer.surface {
                *out += &format!("  {name} += patch;\n");
            }
        }
        if has_surfaces {
            *out += layouts::FROM;
        }
        [
            "begin0 + block % blocks0",
            "begin1 + block / blocks0 % blocks1",
            "begin2 + block / (blocks0 * blocks1) % blocks2",
        ]
        .map(str::to_string)
    }

    /// Names the parts of shared memory.
    fn carve(&self, out: &mut String) {
        if self.kernel.shared_bytes() > 0 {
            *out += &format!("  {}\n", self.dialect.shared());
        }
        let mut start = 0;
        let real = self.real();
        for (array, name) in self.kernel.shared.iter().zip(&self.names.shared) {
            *out += &format!(
                "  {real}* const {name} = reinterpret_cast<{real}*>(shared_ + {start});\n"
            );
            start += (array.len as usize * self.kernel.value_bytes).next_multiple_of(128);
        }
        for (barrier, name) in self.kernel.barriers.iter().zip(&self.names.barriers) {
            *out += &format!("  const unsigned {name} = shared_address(shared_ + {start});\n");
            start += barrier.slots as usize * 8;
        }
    }

    fn thread_number(&self) -> String {
        let [x, y, z] = self.kernel.launch.threads;
        let mut text = self.dialect.thread(0).to_string();
        for (extent, stride, axis) in [(y, x, 1), (z, x.saturating_mul(y), 2)] {
            if extent > 1 {
                let _ = write!(text, " + {stride} * {}", self.dialect.thread(axis));
            }
        }
        text
    }

    /// One thread sets the barriers up before the others go on.
    fn barriers(&self, out: &mut String) {
        *out += &format!("  if ({} == 0) {{\n", self.thread_number());
        for (barrier, name) in self.kernel.barriers.iter().zip(&self.names.barriers) {
            *out += &format!("    for (int i_ = 0; i_ < {}; ++i_) ", barrier.slots);
            *out += &format!("init_barrier({name} + 8 * i_, {});\n", barrier.arrivals);
        }
        *out += &format!("    fence_barriers();\n  }}\n  {}\n", self.dialect.sync());
    }
}
