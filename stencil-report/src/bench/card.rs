//! The use of a card: columns of the table, a table of kernels, and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stencil_runtime::backend::cuda::{Launched, Load};

use super::Protocol;

/// The use of a card by the steps of a case.
#[derive(Clone, Debug)]
pub(super) struct Card {
    pub(super) name: String,
    /// Kernels that a step launches, those that fill ghost cells among them.
    pub(super) launches: usize,
    /// The kernels of the plan, in the order of a step.
    pub(super) kernels: Vec<Kernel>,
    /// How steps were timed.
    pub(super) protocol: Protocol,
    /// Clock and power in bursts.
    pub(super) load: Load,
    /// Million points a second without rests, with clock and power meanwhile, if that was measured.
    pub(super) sustained: Option<(f64, Load)>,
    /// Seconds from the settings to the first step on the card, and that step.
    pub(super) start: f64,
}

/// A kernel of the plan.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) launched: Launched,
    /// Bytes a cell that its blocks ask for, halos included.
    pub(super) predicted_bytes: f64,
}

/// The columns that only cards have.
pub(super) fn heading() -> String {
    format!(
        "  {:>8} {:>7} {:>5} {:>7} {:>6}  {:>5} {:>5}  {:>9} {:>5} {:>5} {:>6}",
        "launches",
        "B/point",
        "regs",
        "shared",
        "warps",
        "MHz",
        "W",
        "sustained",
        "MHz",
        "W",
        "start"
    )
}

/// A number without places behind the point, or a dash.
fn rounded(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.0}"))
}

fn share(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

impl Card {
    /// Bytes a cell and step that the blocks of all kernels ask for.
    fn predicted_bytes(&self) -> f64 {
        self.kernels.iter().map(|k| k.predicted_bytes).sum()
    }

    fn most<V: Ord>(&self, value: impl Fn(&Launched) -> V) -> Option<V> {
        self.kernels.iter().map(|k| value(&k.launched)).max()
    }

    /// The least share of a multiprocessor's warps that a kernel fills.
    fn occupancy(&self) -> Option<f64> {
        let all = self.kernels.iter().map(|k| k.launched.occupancy);
        all.min_by(f64::total_cmp)
    }

    /// The columns: of several kernels the one that takes most.
    pub(super) fn columns(&self) -> String {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let registers = self.most(|k| k.resources.registers);
        let shared = self.most(|k| k.shared_bytes);
        let held = self.sustained.map_or(Load::default(), |(_, load)| load);
        let kib = |bytes: usize| format!("{:.1}K", bytes as f64 / 1024.0);
        format!(
            "  {:>8} {:>7.0} {:>5} {:>7} {:>6}  {:>5} {:>5}  {:>9} {:>5} {:>5} {:>6.2}",
            self.launches,
            self.predicted_bytes(),
            or_dash(registers.map(|n| n.to_string())),
            or_dash(shared.map(kib)),
            or_dash(self.occupancy().map(share)),
            rounded(self.load.clock_mhz),
            rounded(self.load.power_w),
            or_dash(self.sustained.map(|(mpts, _)| format!("{mpts:.2}"))),
            rounded(held.clock_mhz),
            rounded(held.power_w),
            self.start,
        )
    }

    /// A line for each kernel, below the case that it belongs to.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "  {:<24} {:>7} {:>7} {:>5} {:>7} {:>8} {:>8} {:>7} {:>6}  {:<14} {:>7}\n",
            "kernel",
            "substep",
            "threads",
            "regs",
            "spilled",
            "shared",
            "barriers",
            "blocks",
            "warps",
            "bound by",
            "B/point"
        );
        for Kernel { launched: kernel, predicted_bytes } in &self.kernels {
            let _ = writeln!(
                text,
                "  {:<24} {:>7} {:>7} {:>5} {:>7} {:>8} {:>8} {:>7} {:>6}  {:<14} {:>7.1}",
                kernel.name,
                kernel.substep + 1,
                kernel.threads,
                kernel.resources.registers,
                spilled(kernel),
                kernel.shared_bytes,
                kernel.resources.barriers,
                kernel.resident,
                share(kernel.occupancy),
                kernel.bound.name(),
                predicted_bytes,
            );
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let kernels: Vec<Value> = self.kernels.iter().map(Kernel::json).collect();
        json!({
            "name": self.name,
            "launches_per_step": self.launches,
            "predicted_bytes_per_point": self.predicted_bytes(),
            "registers": self.most(|k| k.resources.registers),
            "shared_bytes": self.most(|k| k.shared_bytes),
            "occupancy": self.occupancy(),
            "protocol": self.protocol.name(),
            "clock_mhz": self.load.clock_mhz,
            "power_w": self.load.power_w,
            "sustained": self.sustained.map(|(mpts, load)| json!({
                "mpts_per_s": mpts,
                "clock_mhz": load.clock_mhz,
                "power_w": load.power_w,
                // Nanojoules a point are watts over billions of points a second.
                "nj_per_point": load.power_w.map(|watts| 1e3 * watts / mpts),
            })),
            "start_s": self.start,
            "kernels": kernels,
        })
    }
}

fn spilled(kernel: &Launched) -> u32 {
    kernel.resources.spill_stores + kernel.resources.spill_loads
}

impl Kernel {
    fn json(&self) -> Value {
        let kernel = &self.launched;
        json!({
            "name": kernel.name,
            "substep": kernel.substep + 1,
            "threads": kernel.threads,
            "registers": kernel.resources.registers,
            "spilled_bytes": spilled(kernel),
            "shared_bytes": kernel.shared_bytes,
            "barriers": kernel.resources.barriers,
            "blocks_per_multiprocessor": kernel.resident,
            "occupancy": kernel.occupancy,
            "bound_by": kernel.bound.name(),
            "predicted_bytes_per_point": self.predicted_bytes,
        })
    }
}
