//! The list of the exported cases: their schedules, and the compiled kernels that they need.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use stencil_compiler::model::Formulation;
use stencil_compiler::schedule::{Schedule, text};
use stencil_report::Failure;
use stencil_runtime::io::read_text;

use super::cases::{Batch, Declared, Grid, Origin};
use crate::Ended;
use crate::source::{MixedChoice, Precision};

/// The file beside the kernels.
const FILE: &str = "cases.json";

/// The number of the layout of that file.
const LAYOUT: u64 = 2;

/// An export.
#[derive(Debug)]
pub(super) struct List {
    /// The cards that the kernels are for, as in `sm_90`.
    pub(super) architecture: String,
    /// The version of NVRTC that compiled them.
    pub(super) compiler: (i32, i32),
    pub(super) steps: u64,
    /// Batches, and for each of their schedules the names of its kernels' files.
    pub(super) batches: Vec<(Batch, Vec<Vec<String>>)>,
}

impl List {
    /// Writes the list into the folder of the kernels.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Ended> {
        let mut all = Map::new();
        let batches: Vec<Value> = self.batches.iter().map(batch_json).collect();
        all.insert("layout".into(), LAYOUT.into());
        all.insert("architecture".into(), json!(self.architecture));
        all.insert("compiler".into(), json!([self.compiler.0, self.compiler.1]));
        all.insert("steps".into(), json!(self.steps));
        all.insert("batches".into(), batches.into());
        let sum = checksum(&all);
        all.insert("checksum".into(), sum.into());
        let path = folder.join(FILE);
        fs::write(&path, format!("{:#}\n", Value::Object(all)))
            .map_err(|error| Ended::unwritten(&path, &error))
    }

    /// Reads the list in a folder, all of it or nothing.
    pub(super) fn read(folder: &Path) -> Result<Self, Ended> {
        let path = folder.join(FILE);
        let wrong = |what: String| {
            Ended::from(Failure::new(format!(
                "error: {} {what}\n  help: `stencil verify --export {}` writes it anew, on any machine with NVRTC",
                path.display(),
                folder.display()
            )))
        };
        let text = read_text(&path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let all: Value =
            serde_json::from_str(&text).map_err(|error| wrong(format!("is damaged: {error}")))?;
        let Value::Object(mut all) = all else {
            return Err(wrong("is no list of cases".into()));
        };
        let sum = all.remove("checksum");
        if sum != Some(checksum(&all).into()) {
            return Err(wrong("is damaged: its checksum is not that of its content".into()));
        }
        if all.get("layout").and_then(Value::as_u64) != Some(LAYOUT) {
            return Err(wrong("was written by another version of this program".into()));
        }
        let fields = Fields(&all);
        fields.list().map_err(|what| wrong(format!("is damaged: {what}")))
    }

    /// The names of all files of kernels, each once.
    pub(super) fn kernels(&self) -> Vec<&str> {
        let of_batches = self.batches.iter().flat_map(|(_, kernels)| kernels);
        let mut all: Vec<&str> = of_batches.flatten().map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The path of a list, for messages.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn checksum(all: &Map<String, Value>) -> u32 {
    crc32fast::hash(json!(all).to_string().as_bytes())
}

fn batch_json((batch, kernels): &(Batch, Vec<Vec<String>>)) -> Value {
    let schedules = batch.schedules.iter().zip(kernels);
    let schedules: Vec<Value> = schedules
        .map(|((name, schedule), kernels)| {
            json!({ "name": name, "schedule": text::print(schedule), "kernels": kernels })
        })
        .collect();
    json!({
        "system": match &batch.origin.declared {
            Declared::Library { name, dimension } => json!({ "name": name, "dimension": dimension }),
            Declared::File { name, text, dimension } => {
                json!({ "file": name, "text": text, "dimension": dimension })
            }
        },
        "mixed": batch.origin.mixed.map(|mixed| mixed.get().name()),
        "formulation": batch.origin.formulation.map(|formulation| formulation.to_string()),
        "precision": batch.precision.get().name(),
        "cells": batch.grid.cells,
        "patches": batch.grid.patches,
        "schedules": schedules,
    })
}

/// An object with fields that must be there; errors say which one is not.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn of(value: &'a Value) -> Result<Self, String> {
        value.as_object().map(Fields).ok_or_else(|| format!("{value} is no object"))
    }

    fn get<V>(&self, name: &str, read: impl Fn(&'a Value) -> Option<V>) -> Result<V, String> {
        let value = self.0.get(name).and_then(read);
        value.ok_or_else(|| format!("`{name}` is missing or wrong"))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        self.get(name, |value| Some(value.as_str()?.to_string()))
    }

    fn array(&self, name: &str) -> Result<&'a Vec<Value>, String> {
        self.get(name, Value::as_array)
    }

    fn list(&self) -> Result<List, String> {
        let version = |v: &Value| {
            let part = |at: usize| i32::try_from(v.get(at)?.as_i64()?).ok();
            Some((part(0)?, part(1)?))
        };
        let batches = self.array("batches")?.iter();
        Ok(List {
            architecture: self.text("architecture")?,
            compiler: self.get("compiler", version)?,
            steps: self.get("steps", Value::as_u64)?,
            batches: batches
                .map(|batch| Fields::of(batch)?.batch())
                .collect::<Result<_, String>>()?,
        })
    }

    fn batch(&self) -> Result<(Batch, Vec<Vec<String>>), String> {
        let origin = Origin {
            declared: Fields::of(self.get("system", Some)?)?.declared()?,
            mixed: self.mixed()?,
            formulation: self.formulation()?,
        };
        let system = origin.system().map_err(|ended| ended.message)?;
        let precisions = [Precision::F32, Precision::F64].into_iter();
        let wanted = self.text("precision")?;
        let precision = precisions.clone().find(|p| p.get().name() == wanted);
        let mut batch = Batch {
            system,
            origin,
            precision: precision.ok_or_else(|| format!("there is no precision `{wanted}`"))?,
            grid: Grid { cells: self.along_axes("cells")?, patches: self.along_axes("patches")? },
            devices: 1,
            schedules: Vec::new(),
        };
        let mut kernels = Vec::new();
        for schedule in self.array("schedules")? {
            let (name, schedule, files) = Fields::of(schedule)?.schedule()?;
            batch.schedules.push((name, schedule));
            kernels.push(files);
        }
        Ok((batch, kernels))
    }

    fn along_axes(&self, name: &str) -> Result<[usize; 3], String> {
        let number = |v: &Value| usize::try_from(v.as_u64()?).ok();
        self.get(name, |v| {
            let all: Option<Vec<usize>> = v.as_array()?.iter().map(number).collect();
            all?.try_into().ok()
        })
    }

    fn mixed(&self) -> Result<Option<MixedChoice>, String> {
        if self.get("mixed", Some)?.is_null() {
            return Ok(None);
        }
        let wanted = self.text("mixed")?;
        let mut all = MixedChoice::value_variants().iter().copied();
        let found = all.find(|choice| choice.get().name() == wanted);
        let unknown = || format!("there is no choice `{wanted}`");
        found.map(Some).ok_or_else(unknown)
    }

    fn formulation(&self) -> Result<Option<Formulation>, String> {
        match self.get("formulation", Some)?.is_null() {
            true => Ok(None),
            false => self.text("formulation")?.parse().map(Some),
        }
    }

    fn declared(&self) -> Result<Declared, String> {
        let dimension = |v: &Value| usize::try_from(v.as_u64()?).ok();
        if self.0.contains_key("file") {
            return Ok(Declared::File {
                name: self.text("file")?,
                text: self.text("text")?,
                dimension: self.0.get("dimension").and_then(dimension),
            });
        }
        Ok(Declared::Library {
            name: self.text("name")?,
            dimension: self.get("dimension", dimension)?,
        })
    }

    fn schedule(&self) -> Result<(String, Schedule, Vec<String>), String> {
        let name = self.text("name")?;
        let schedule = text::parse(&self.text("schedule")?)
            .map_err(|error| format!("the schedule `{name}`: {error}"))?;
        let names = |v: &Value| {
            let names = v.as_array()?.iter();
            names.map(|name| Some(name.as_str()?.to_string())).collect()
        };
        Ok((name, schedule, self.get("kernels", names)?))
    }
}
