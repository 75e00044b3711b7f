//! The addresses of a page, and their answers.

use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use stencil_compiler::diag::nearest;
use stencil_report::watch::{Look, Shot, View};
use stencil_runtime::Axis;
use stencil_runtime::plot::{ColorMap, PlotError, Scene};

use super::http::{Reply, Request};
use super::hub::{Command, Hub};

const HTML: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/watch.css");
const SCRIPT: &str = include_str!("page/watch.js");

/// The time in which a run looks at an order, or answers later.
const PATIENCE: Duration = Duration::from_secs(10);

/// The methods of addresses.
const READS: &str = "GET";
const ORDERS: &str = "POST";

/// Addresses that are orders.
const NAMED_ORDERS: [(&str, Command); 4] = [
    ("pause", Command::Pause),
    ("resume", Command::Resume),
    ("step", Command::Step),
    ("stop", Command::Stop),
];

/// The answers of a run.
pub(super) struct Routes {
    hub: Arc<Hub>,
    /// The last picture, by its shot and look: several requests draw it once.
    picture: Mutex<Option<(u64, Look, Reply)>>,
}

impl Routes {
    pub(super) fn new(hub: Arc<Hub>) -> Self {
        Routes { hub, picture: Mutex::default() }
    }

    /// Answers a request for a page, whose path is without the token.
    pub(super) fn reply(&self, page: &str, request: &Request) -> Reply {
        let is_order = page == "param" || NAMED_ORDERS.iter().any(|(name, _)| *name == page);
        let allowed = if is_order { ORDERS } else { READS };
        let reply = match page {
            _ if request.method != allowed && (is_order || self.read(page, request).is_some()) => {
                let wrong = Reply::error(405, format!("`{page}` takes {allowed} alone"));
                Some(Reply { allow: Some(allowed), ..wrong })
            }
            "param" => Some(self.param(request)),
            _ if is_order => {
                let mut orders = NAMED_ORDERS.into_iter();
                let order = orders.find_map(|(name, order)| (name == page).then_some(order));
                order.map(|order| self.order(order))
            }
            _ => self.read(page, request),
        };
        reply.unwrap_or_else(|| Reply::error(404, "there is no such page"))
    }

    /// Answers a request that changes nothing; `None` if there is no such page.
    fn read(&self, page: &str, request: &Request) -> Option<Reply> {
        Some(match page {
            "" => Reply::good("text/html; charset=utf-8", HTML),
            "watch.css" => Reply::good("text/css; charset=utf-8", STYLE),
            "watch.js" => Reply::good("text/javascript; charset=utf-8", SCRIPT),
            "state" => self.state(request),
            "picture.png" => self.picture(request),
            "line.svg" => self.line(request),
            "spectrum.svg" => self.spectrum(),
            "series.svg" => self.series(request),
            _ => return None,
        })
    }

    fn state(&self, request: &Request) -> Reply {
        let view = match self.view(request) {
            Ok(view) => view,
            Err(wrong) => return wrong,
        };
        self.hub.watch(view);
        Reply::json(&self.hub.json())
    }

    /// Reads the view that a request asks for; parts that it leaves out are as before.
    fn view(&self, request: &Request) -> Result<Option<View>, Reply> {
        let parts = ["field", "normal", "at"].map(|name| request.value(name));
        if parts == [None; 3] {
            return Ok(None);
        }
        let (scope, old) = {
            let state = self.hub.lock();
            (Arc::clone(&state.scope), state.view().clone())
        };
        let [field, normal, at] = parts;
        let field = field.map_or(old.field.clone(), str::to_string);
        let names = || scope.fields.iter().map(|(name, _)| name.as_str());
        if !names().any(|name| name == field) {
            return Err(unknown("field", &field, names()));
        }
        let axis = |name: &str| {
            let mut normals = scope.normals().iter().copied();
            let missing = || unknown("axis", name, scope.normals().iter().map(|axis| axis.name()));
            normals.find(|axis: &Axis| axis.name() == name).ok_or_else(missing)
        };
        let normal = normal.map_or(Ok(old.normal), axis)?;
        let cells = scope.lines[normal.index()].cells;
        let at = match at {
            Some(text) => text.parse().map_err(|_| number("at", text))?,
            None if normal == old.normal => old.at,
            None => cells / 2,
        };
        let view = View { field, normal, at };
        match scope.has(&view) {
            true => Ok(Some(view)),
            false => {
                let message =
                    format!("there is no cell {at} along {normal}; they are 0 to {}", cells - 1);
                Err(Reply::error(404, message))
            }
        }
    }

    /// Returns the last shot.
    fn shot(&self) -> Result<Arc<Shot>, Reply> {
        let shot = self.hub.lock().shot.clone();
        shot.ok_or_else(|| Reply::error(404, "no field has been copied yet"))
    }

    fn picture(&self, request: &Request) -> Reply {
        let (look, shot) = match (look(request), self.shot()) {
            (Ok(look), Ok(shot)) => (look, shot),
            (Err(wrong), _) | (_, Err(wrong)) => return wrong,
        };
        let mut last = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((number, known, reply)) = &*last
            && (*number, *known) == (shot.number, look)
        {
            return reply.clone();
        }
        let reply = self.drawn("image/png", || Ok(shot.scene(look)?.png()));
        *last = Some((shot.number, look, reply.clone()));
        reply
    }

    fn line(&self, request: &Request) -> Reply {
        let (look, shot) = match (look(request), self.shot()) {
            (Ok(look), Ok(shot)) => (look, shot),
            (Err(wrong), _) | (_, Err(wrong)) => return wrong,
        };
        let index = |name: &str| match request.value(name) {
            Some(text) => text.parse::<usize>().map_err(|_| number(name, text)),
            None => Ok(0),
        };
        let (along, at) = match (index("along"), index("cell")) {
            (Ok(along), Ok(at)) => (along, at),
            (Err(wrong), _) | (_, Err(wrong)) => return wrong,
        };
        self.svg(shot.line(along, at, look), "there is no such line through the picture")
    }

    fn spectrum(&self) -> Reply {
        match self.shot() {
            Ok(shot) => {
                self.svg(shot.spectrum(), "a spectrum needs periodic axes and finite values")
            }
            Err(wrong) => wrong,
        }
    }

    fn series(&self, request: &Request) -> Reply {
        let name = request.value("name").unwrap_or_default();
        let series = self.hub.lock().series.clone();
        match series.scene(name) {
            Some(scene) => self.svg(Some(scene), ""),
            None => unknown("observable", name, series.names().iter().map(String::as_str)),
        }
    }

    fn svg(&self, scene: Option<Result<Scene, PlotError>>, missing: &str) -> Reply {
        match scene {
            Some(scene) => self.drawn("image/svg+xml", || Ok(scene?.svg().into_bytes())),
            None => Reply::error(404, missing),
        }
    }

    /// Draws, and counts the time that it takes.
    fn drawn(
        &self,
        kind: &'static str,
        draw: impl FnOnce() -> Result<Vec<u8>, PlotError>,
    ) -> Reply {
        let begun = Instant::now();
        let drawn = draw();
        self.hub.drew(begun.elapsed());
        match drawn {
            Ok(bytes) => Reply::good(kind, bytes),
            Err(error) => Reply::error(409, error.to_string()),
        }
    }

    fn param(&self, request: &Request) -> Reply {
        let name = request.value("name").unwrap_or_default().to_string();
        let text = request.value("value").unwrap_or_default();
        let names: Vec<String> = {
            let state = self.hub.lock();
            state.params.iter().map(|param| param.name.clone()).collect()
        };
        if !names.contains(&name) {
            return unknown("parameter", &name, names.iter().map(String::as_str));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => self.order(Command::Set { name, value }),
            _ => number("value", text),
        }
    }

    /// Gives an order, and waits for what the run says.
    fn order(&self, command: Command) -> Reply {
        match self.hub.order(command).recv_timeout(PATIENCE) {
            Ok(Ok(step)) => Reply::json(&json!({ "step": step })),
            Ok(Err(why)) => Reply::error(409, why),
            Err(RecvTimeoutError::Disconnected) => Reply::error(409, "the run is over"),
            Err(RecvTimeoutError::Timeout) => {
                let value = json!({ "waits": "a step takes long; the order is done after it" });
                Reply { status: 202, ..Reply::json(&value) }
            }
        }
    }
}

/// Reads the look that a request asks for.
fn look(request: &Request) -> Result<Look, Reply> {
    let map = match request.value("map") {
        None | Some("auto") => None,
        Some(name) => match ColorMap::find(name) {
            Some(map) => Some(map),
            None => {
                return Err(unknown(
                    "colour map",
                    name,
                    ColorMap::ALL.iter().map(|(name, _)| *name),
                ));
            }
        },
    };
    Ok(Look { map, log: request.value("log") == Some("1") })
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Reply {
    let near = nearest(name, known.clone()).map(|near| format!("; did you mean `{near}`?"));
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    let near = near.unwrap_or_default();
    Reply::error(404, format!("there is no {what} `{name}`{near} (there are: {known})"))
}

fn number(name: &str, text: &str) -> Reply {
    Reply::error(400, format!("`{name}` is `{text}`, which is no number that fits"))
}
