//! Options of the command line as changes of a problem's settings.

use stencil_runtime::problem::Change;

use super::RunArgs;
use crate::source::Precision;

/// Returns all changes; `--set` comes last and overrides the others.
pub(super) fn of(args: &RunArgs) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut option = |option: &str, key: &str, value: &str| {
        changes.push(Change::option(option, key, value));
    };
    if let Some(dimension) = args.common.dimension {
        option("--dimension", "dimension", &dimension.to_string());
    }
    if let Some(cells) = &args.cells {
        option("--cells", "mesh.cells", cells);
    }
    if let Some(patches) = &args.patches {
        option("--patches", "mesh.patches", patches);
    }
    if let Some(devices) = &args.devices {
        option("--devices", "mesh.devices", devices);
    }
    if let Some(stream) = &args.stream {
        option("--stream", "mesh.stream", stream);
    }
    if let Some(steps) = args.steps {
        option("--steps", "time.steps", &steps.to_string());
    }
    args.states.changes(&mut option);
    if let Some(dt) = &args.dt {
        option("--dt", "time.dt", dt);
    }
    if args.unchecked_step {
        option("--unchecked-step", "time.unchecked_step", "true");
    }
    if let Some(precision) = args.common.precision {
        let word = match precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        };
        option("--precision", "precision", word);
    }
    for text in &args.common.params {
        changes.push(Change::assign("--param", "params", text));
    }
    if let Some(wall) = &args.states.wall {
        changes.push(Change::text("--wall", "time.wall", wall));
    }
    if let Some(out) = &args.out {
        changes.push(Change::text("--out", "output.dir", &out.to_string_lossy()));
    }
    if args.steps.is_some() {
        // This many steps, whatever their time.
        changes.push(Change::remove("time.end"));
    }
    changes.extend(args.common.set.iter().map(|text| Change::set(text)));
    changes.extend(args.over.iter().cloned());
    changes
}
