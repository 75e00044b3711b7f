"use strict";
// Asks the run for its state, shows it, and passes orders on. Addresses are relative: they keep the token.

const PERIOD = 500; // milliseconds between two questions
const of = (id) => document.getElementById(id);
const part = (id, isShown) => { of(id).hidden = !isShown; };
let state = null;  // the last answer
let begun = false; // have the lists of choices been filled?
let drawn = "";    // what the pictures show

const digits = (value, count = 6) =>
  value === null || value === undefined ? "–" : String(Number(Number(value).toPrecision(count)));

function time(seconds) {
  if (seconds === null || !isFinite(seconds)) return "–";
  if (seconds < 60) return seconds.toFixed(1) + " s";
  const s = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

function say(text, isNote = false) {
  const message = of("message");
  message.textContent = text;
  message.className = isNote ? "note" : "";
  message.hidden = text === "";
}

function options(select, names, chosen) {
  if (Array.from(select.options, (option) => option.value).join() === names.join()) return;
  select.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

// The choices, once: they follow from the system and the mesh.
function begin() {
  const { facts, view, observables, params } = state;
  const { scope } = facts;
  of("title").textContent = facts.title;
  document.title = facts.title;
  of("about").textContent = facts.about;
  of("plan").textContent = facts.plan;
  options(of("field"), scope.fields.map((field) => field.name), view.field);
  options(of("normal"), scope.normals, view.normal);
  options(of("map"), ["auto", ...facts.maps], "auto");
  options(of("observable"), observables.names);
  document.querySelectorAll(".box").forEach((label) => { label.hidden = scope.dimension < 3; });
  plane(view.at);
  part("line-part", scope.dimension > 1);
  part("series-part", observables.names.length > 0);
  part("params-part", params.length > 0);
  of("params").replaceChildren(...params.flatMap(row));
  begun = true;
}

// The cells of the planes normal to the chosen axis.
function plane(at) {
  const axis = state.facts.scope.axes.find((line) => line.axis === of("normal").value);
  const cells = axis ? axis.cells : 1;
  of("at").max = cells - 1;
  of("at").value = at ?? Math.floor(cells / 2);
  of("place").textContent = axis ? digits(axis.first + axis.spacing * of("at").value, 4) : "";
}

// A parameter: its name, its value, its range, and a button.
function row(param) {
  const name = document.createElement("label");
  name.textContent = param.name;
  name.htmlFor = "param-" + param.name;
  const input = document.createElement("input");
  input.type = "text";
  input.id = name.htmlFor;
  input.value = digits(param.value, 15);
  input.inputMode = "decimal";
  const range = document.createElement("span");
  range.className = "range";
  range.textContent = [param.unit && `[${param.unit}]`, param.range].filter(Boolean).join("  ");
  const button = document.createElement("button");
  button.textContent = "Set";
  button.addEventListener("click", (event) => {
    event.preventDefault();
    const value = input.value.trim().replaceAll("+", "");
    order("param?name=" + param.name + "&value=" + encodeURIComponent(value));
  });
  return [name, input, range, button];
}

function numbers() {
  const s = state;
  const facts = [
    ["step", s.last_step > 0 ? `${s.step} / ${s.last_step}` : s.step],
    ["t", digits(s.t)],
    ["dt", digits(s.dt, 4)],
    ["speed", `${digits(s.mpts_per_s, 3)} Mpts/s`],
    ["steps a second", digits(s.steps_per_s, 3)],
    ["time left", s.over ? "–" : s.paused ? "paused" : time(s.left_s)],
    ["running for", time(s.seconds)],
    ["watching takes", s.seconds > 0 ? digits(100 * s.watching.seconds / s.seconds, 2) + " %" : "–"],
    ...s.observables.names.map((name, at) => [name, digits(s.observables.last?.[at], 5)]),
  ];
  of("numbers").replaceChildren(...facts.map(([name, value]) => {
    const pair = document.createElement("div");
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    text.textContent = value;
    pair.append(term, text);
    return pair;
  }));
  of("progress").value = s.last_step > 0 ? Math.min(1, s.step / s.last_step) : 0;
  of("pause").textContent = s.paused ? "Resume" : "Pause";
  of("pause").disabled = of("stop").disabled = s.over;
  of("step").disabled = !s.paused || s.over;
  of("changed").replaceChildren(...s.changed.map((change) => {
    const item = document.createElement("li");
    item.textContent = `${change.param} = ${change.to} after step ${change.step} (was ${change.from})`;
    return item;
  }));
}

// Loads pictures again if the shot or the choices are others.
function pictures() {
  const shot = state.shot;
  if (!shot) return;
  const look = `map=${of("map").value}&log=${of("log").checked ? 1 : 0}`;
  options(of("along"), shot.axes, of("along").value);
  const along = Math.max(0, shot.axes.indexOf(of("along").value));
  const count = shot.cells[1 - along];
  if (Number(of("cell").max) !== count - 1) {
    of("cell").max = count - 1;
    of("cell").value = Math.floor(count / 2);
  }
  of("cell-number").textContent = of("cell").value;
  const cell = of("cell").value, name = of("observable").value;
  const now = [shot.number, look, along, cell, name].join();
  if (now === drawn) return;
  drawn = now;
  const load = (id, address) => { of(id).src = `${address}&shot=${shot.number}`; };
  load("picture", "picture.png?" + look);
  if (state.facts.scope.dimension > 1) load("line", `line.svg?along=${along}&cell=${cell}&log=${of("log").checked ? 1 : 0}`);
  if (name) load("series", "series.svg?name=" + name);
  part("spectrum-part", shot.has_spectrum);
  if (shot.has_spectrum) load("spectrum", "spectrum.svg?of=" + shot.field);
  of("extremes").textContent = `${shot.field}: least ${digits(shot.min)}, mean ${digits(shot.mean)}, largest ${digits(shot.max)}`;
}

async function answer(address, method) {
  const reply = await fetch(address, { method });
  const value = await reply.json();
  if (value.error) throw new Error(value.error);
  return value;
}

async function order(address) {
  say("The run is asked …", true);
  try {
    const value = await answer(address, "POST");
    say(value.waits ?? "", true);
  } catch (error) {
    say(error.message);
  }
  await look();
}

async function look() {
  const view = begun ? `?field=${of("field").value}&normal=${of("normal").value}&at=${of("at").value}` : "";
  try {
    state = await answer("state" + view, "GET");
  } catch (error) {
    if (state?.over) return false;
    say(error instanceof TypeError ? "The run is over, or the connection to it is lost." : error.message);
    return !(error instanceof TypeError);
  }
  if (!begun) begin();
  numbers();
  pictures();
  if (state.over) say("The run is over.", true);
  return true;
}

async function loop() {
  while (await look()) await new Promise((then) => setTimeout(then, PERIOD));
  of("pause").disabled = of("step").disabled = of("stop").disabled = true;
}

of("pause").addEventListener("click", () => order(state.paused ? "resume" : "pause"));
of("step").addEventListener("click", () => order("step"));
of("stop").addEventListener("click", () => {
  if (confirm("End the run? Its state is written, and --restart goes on from it.")) order("stop");
});
of("normal").addEventListener("change", () => plane());
of("at").addEventListener("input", () => plane(of("at").value));
of("look").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["field", "normal", "map", "log"]) of(id).addEventListener("change", look);
for (const id of ["along", "cell", "observable"]) of(id).addEventListener("input", pictures);
loop();
