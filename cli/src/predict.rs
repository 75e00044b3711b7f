//! `stencil predict`: on which cards it pays to decompose a step into several kernels (the question that
//! Pekkilä et al. 2017 leave open in their sections 4 and 7), by the model of times.

use std::io::Write;

use clap::Args;
use stencil_compiler::cost::{MODELS, Model};
use stencil_report::predict::{Cases, cases};
use stencil_runtime::report::{clear_note, note};

use crate::explain::{card, cells};
use crate::systems::{SystemsArgs, of_orders};
use crate::{Ended, output};

/// Arguments of `stencil predict`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    of: SystemsArgs,
    /// Orders of the central differences, in place of the declared one: 2, 4, 6, 8 or 10
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    order: Vec<u32>,
    /// The cards: H200, H100, A100 or K40; all of them if none is given
    #[arg(long, value_name = "CARD,..", value_parser = card, value_delimiter = ',')]
    on: Vec<&'static Model>,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &PredictArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let systems = of_orders(args.of.systems()?, &args.order)?;
    let cards: Vec<&Model> = match &args.on[..] {
        [] => MODELS.iter().collect(),
        given => given.to_vec(),
    };
    let mut all = Cases::default();
    for system in &systems {
        for precision in &args.of.precision {
            let (name, order) = (system.name(), system.model().scheme.order);
            note(&format!("{name} order {order} {} ..", precision.get().name()));
            let given = cells(&args.of.cells, system.model().dimension)?;
            all.0.extend(cases(system, given, precision.get(), &cards));
        }
    }
    clear_note();
    Ok(output::print(&all, args.json, out)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::Value;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: PredictArgs,
    }

    fn outcome(words: &[&str]) -> Result<String, Ended> {
        let words = ["predict"].iter().chain(words);
        let args = Cli::try_parse_from(words).unwrap().args;
        let mut out = Vec::new();
        run(&args, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn printed(words: &[&str]) -> String {
        outcome(words).unwrap_or_else(|e| panic!("{}", e.message))
    }

    fn refused(words: &[&str]) -> String {
        outcome(words).unwrap_err().message
    }

    #[test]
    fn decomposing_pays_where_much_is_recomputed() {
        let file = std::env::temp_dir().join(format!("predict-{}.pde", std::process::id()));
        let text = "pub system Flow in 3d { field u: vector; param nu: real = 1;
                ddt(u) = nu * (lap(u) + grad(div(u))/3); }
             scheme s for Flow { space: central<order = 6>; mixed: composed; time: euler; }";
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let words = "--precision f32 --on K40 --mixed composed,bidiagonal --cells 256 --json";
        let words: Vec<&str> = [file].into_iter().chain(words.split(' ')).collect();
        let found: Value = serde_json::from_str(&printed(&words)).unwrap();
        std::fs::remove_file(file).unwrap();
        let cases = found["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 2);
        let gain = |at: usize| cases[at]["gain_of_decomposing"].as_f64().unwrap();
        assert!(gain(0) > 1.0 && gain(1) < 1.0, "{found}");
        let methods = cases[0]["methods"].as_object().unwrap();
        for method in ["one_kernel", "shared", "stored", "parted"] {
            let found = &methods[method];
            let number = |name: &str| found[name].as_f64().unwrap();
            assert!(number("mpts_per_s") > 0.0 && number("bytes_per_point") > 0.0);
            // No limit of power is known of it.
            assert_eq!(number("sustained_mpts_per_s"), number("mpts_per_s"));
        }
    }

    #[test]
    fn a_system_that_has_nothing_to_decompose_has_one_method() {
        let text = printed(&["heat", "--precision", "f64", "--on", "A100", "--cells", "64"]);
        let row = text.lines().nth(1).unwrap();
        assert!(row.starts_with("Heat"), "{text}");
        assert!(row.ends_with("-"), "{row}");
    }

    #[test]
    fn fluxes_of_reconstructed_states_have_no_order() {
        let words = ["acoustics", "--precision", "f32", "--on", "K40", "--cells", "64"];
        let row = printed(&words);
        assert!(row.lines().nth(1).unwrap().contains(" -  K40 "), "{row}");
        let asked: Vec<&str> = words.into_iter().chain(["--order", "4"]).collect();
        let told = refused(&asked);
        assert!(
            told.contains("`Acoustics` has no central differences") && told.contains("help: "),
            "{told}"
        );
        let told = refused(&["heat", "--order", "3"]);
        assert!(told.contains("no order 3, there are [2, 4, 6, 8, 10]"), "{told}");
    }
}
