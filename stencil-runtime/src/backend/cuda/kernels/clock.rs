//! The state of a run on a card: its time, the length of its steps, and the uniforms that depend on them.

use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, CudaView, DriverError, LaunchConfig, PushKernelArg, result,
};
use stencil_compiler::emit::{self, Patches, Source};
use stencil_compiler::expr::{Expr, Real};

use crate::backend::cuda::card::OLDEST;
use crate::backend::cuda::kernels::builtin::head;
use crate::backend::cuda::kernels::launch::{Ready, choice, function, one};
use crate::backend::cuda::memory::shared::Allocation;
use crate::backend::cuda::memory::start;
use crate::backend::cuda::{Cache, CudaError, Opened};
use crate::step::{Asked, Length, Moment, Rules, place};

/// The kernel.
const TEXT: &str = include_str!("clock.cu");

const THREADS: u32 = 32;

const CONFIG: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };

/// Indices of the numbers of several steps that adapt: see the text of the kernels.
mod several {
    pub(super) const LIMIT: usize = 0;
    pub(super) const BEGUN: usize = 1;
    pub(super) const ACCEPTED: usize = 2;
    pub(super) const STOPPED: usize = 3;
    /// The times and lengths of steps begin here.
    pub(super) const STEPS: usize = 4;
}

/// The state, and the kernels that begin and accept steps.
#[derive(Debug)]
pub(crate) struct Clock {
    rules: Rules,
    begin: CudaFunction,
    begin_next: CudaFunction,
    accept_last: CudaFunction,
    /// The state of several steps that adapt.
    several: CudaSlice<f64>,
    /// The numbers that the rules are made of.
    state: CudaSlice<f64>,
    /// The time of each substep, and last the time of the fields, for evaluations between steps.
    times: Allocation<f64>,
    /// The uniforms of each kernel, one kernel after the other: their numbers, and their values.
    order: CudaSlice<i32>,
    taken: Allocation<u8>,
    /// The copies to the kernels of the first card.
    copies: Vec<UniformCopy>,
    /// The other cards.
    others: Vec<Other>,
    /// The last request to the card, with the time that it has now; `None` if that is not known.
    told: Option<(Asked, Speeds)>,
    /// The length of the step for which the uniforms were computed last.
    dt: Option<f64>,
}

/// The source of the speeds that limit a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speeds {
    /// There are none: all are zero.
    None,
    /// The card writes them.
    Reduced,
}

/// The uniforms of one kernel, which are constants of its module.
#[derive(Clone, Copy, Debug)]
struct UniformCopy {
    from: u64,
    to: u64,
    bytes: usize,
}

/// Another card, which takes the uniforms over before it copies them to its kernels: a copy from the memory of one card
/// to that of another cannot be captured.
#[derive(Debug)]
struct Other {
    take_over: CudaFunction,
    own: CudaSlice<u8>,
    copies: Vec<UniformCopy>,
}

impl Other {
    /// Loads the kernel of a card, and takes memory for so many bytes.
    fn new<T: Real>(
        card: &Opened,
        (cache, source): (Option<&Cache>, &Source),
        (bytes, launches): (usize, &[Ready]),
    ) -> Result<Self, CudaError> {
        let own = card.stream.alloc_zeros(bytes).map_err(no_memory)?;
        Ok(Other {
            take_over: function(&one(card, cache, source)?, "take_over")?,
            copies: copies_to::<T>(&card.stream, start(&own, &card.stream), launches)?,
            own,
        })
    }
}

/// Returns the error for memory that could not be taken.
fn no_memory(error: DriverError) -> CudaError {
    CudaError::driver("taking memory on the card")(error)
}

/// Hands uniforms on to the kernels of a card.
fn hand_on(copies: &[UniformCopy], stream: &Arc<CudaStream>) -> Result<(), CudaError> {
    let failed = CudaError::driver("copying uniforms of a step");
    stream.context().bind_to_thread().map_err(&failed)?;
    for part in copies {
        // SAFETY: both ranges were allocated with as many bytes on this card, and in the module of a kernel; both live
        // as long as the machine.
        let copy = unsafe {
            result::memcpy_dtod_async(part.to, part.from, part.bytes, stream.cu_stream())
        };
        copy.map_err(&failed)?;
    }
    Ok(())
}

/// Returns the copies of uniforms, which begin at an address, to some kernels of a card.
fn copies_to<T: Real>(
    stream: &Arc<CudaStream>,
    mut from: u64,
    launches: &[Ready],
) -> Result<Vec<UniformCopy>, CudaError> {
    let mut copies = Vec::new();
    for launch in launches {
        let bytes = launch.uniforms.len() * T::BYTES;
        if let Some(to) = launch.constants(stream)? {
            copies.push(UniformCopy { from, to, bytes });
        }
        from += bytes as u64;
    }
    Ok(copies)
}

/// Returns the text of the kernel.
pub(crate) fn source<T: Real>(rules: &Rules) -> Result<Source, CudaError> {
    Ok(Source {
        name: "clock".into(),
        text: text::<T>(rules)?,
        shared_bytes: 0,
        threads: [THREADS, 1, 1],
        needs: OLDEST,
        line_notes: Vec::new(),
        line_origins: Vec::new(),
    })
}

fn text<T: Real>(rules: &Rules) -> Result<String, CudaError> {
    let numbered = |name: &str, count: usize| -> Vec<String> {
        (0..count).map(|at| format!("{name}_{at}")).collect()
    };
    let times = numbered("time", rules.times.len());
    let uniforms = numbered("uniform", rules.uniforms.len());
    let mut all: Vec<(&str, &Expr<usize>)> =
        vec![("step_length", &rules.length), ("step_end", &rules.end)];
    all.extend(times.iter().map(String::as_str).zip(&rules.times));
    all.extend(uniforms.iter().map(String::as_str).zip(&rules.uniforms));
    let functions = emit::cuda_numbers(&all)?;
    let places = [
        ("T", place::T),
        ("DT", place::DT),
        ("END", place::END),
        ("MOST", place::MOST),
        ("NUMBER", place::NUMBER),
        ("SPEED", rules.first_speed()),
        ("LIMIT", several::LIMIT),
        ("BEGUN", several::BEGUN),
        ("ACCEPTED", several::ACCEPTED),
        ("STOPPED", several::STOPPED),
        ("STEPS", several::STEPS),
        ("NUMBERS", rules.count()),
        ("SUBSTEPS", rules.times.len()),
        // There is at least one, so that one may divide by it.
        ("UNIFORMS", rules.uniforms.len().max(1)),
    ];
    let places = places.map(|(name, value)| format!("#define {name} {value}\n"));
    Ok(format!(
        "{}{}\n{functions}{}{}{TEXT}",
        head::<T>(Patches::One),
        places.concat(),
        choice("substep_time", &times),
        choice("uniform", &uniforms),
    ))
}

impl Clock {
    /// Makes the state of a run in which these kernels, of each card, take uniforms, and no more than so many steps are
    /// done at once. The first card has the state, and the others read the times and the uniforms there.
    pub(crate) fn new<T: Real>(
        cards: &[Opened],
        cache: Option<&Cache>,
        (rules, at_once): (Rules, usize),
        launches: &[&[Ready]],
    ) -> Result<Self, CudaError> {
        let stream = &cards[0].stream;
        let source = source::<T>(&rules)?;
        let module = one(&cards[0], cache, &source)?;
        let uniforms = rules.uniforms.len();
        let taken = launches[0].iter().flat_map(|launch| {
            let first = launch.substep * uniforms;
            launch.uniforms.iter().map(move |at| (first + at) as i32)
        });
        let order: Vec<i32> = taken.collect();
        // At least one uniform, so that there is an address.
        let bytes = order.len().max(1) * T::BYTES;
        let taken = Allocation::zeros(cards, &[bytes])?;
        let copies = copies_to::<T>(stream, start(&taken, stream), launches[0])?;
        let others = cards.iter().zip(launches).skip(1);
        let others = others
            .map(|(card, launches)| Other::new::<T>(card, (cache, &source), (bytes, *launches)));
        let others = others.collect::<Result<_, _>>()?;
        let order = if order.is_empty() { vec![0] } else { order };
        Ok(Clock {
            begin: function(&module, "begin_step")?,
            begin_next: function(&module, "begin_next")?,
            accept_last: function(&module, "accept_last")?,
            several: stream.alloc_zeros(several::STEPS + 2 * at_once).map_err(no_memory)?,
            state: stream.alloc_zeros(rules.count()).map_err(no_memory)?,
            times: Allocation::zeros(cards, &[rules.times.len() + 1])?,
            order: stream.clone_htod(&order).map_err(no_memory)?,
            taken,
            copies,
            others,
            told: None,
            dt: None,
            rules,
        })
    }

    /// Returns the bytes of its state.
    pub(crate) fn bytes(&self) -> usize {
        self.state.num_bytes()
            + self.times.num_bytes()
            + self.order.num_bytes()
            + self.taken.num_bytes()
            + self.several.num_bytes()
    }

    /// Does a substep depend on the time, even if the length of steps does not change?
    pub(crate) fn depends_on_time(&self) -> bool {
        self.rules.depend_on_time
    }

    /// Returns the number of substeps of a step.
    pub(crate) fn substeps(&self) -> usize {
        self.rules.times.len()
    }

    /// Returns the time of a substep.
    pub(crate) fn time(&self, substep: usize, t: f64, dt: f64) -> f64 {
        self.rules.time(substep, t, dt)
    }

    /// Were the uniforms computed last for this length?
    pub(crate) fn has_taken(&self, dt: f64) -> bool {
        self.dt == Some(dt)
    }

    /// Returns the index of the time for evaluations between steps.
    pub(crate) fn between(&self) -> usize {
        self.times.len() - 1
    }

    /// Returns the memory of one of the times.
    pub(crate) fn at(&self, time: usize) -> CudaView<'_, f64> {
        self.times.slice(time..=time)
    }

    /// Sets the time for evaluations between steps.
    pub(crate) fn tell_between(
        &mut self,
        stream: &Arc<CudaStream>,
        t: f64,
    ) -> Result<(), CudaError> {
        let at = self.between();
        let copy = stream.memcpy_htod(&[t], &mut self.times.slice_mut(at..=at));
        copy.map_err(CudaError::driver("copying the time to the card"))
    }

    /// Returns the address of the speed of this number.
    pub(crate) fn speed(&self, stream: &Arc<CudaStream>, at: usize) -> u64 {
        start(&self.state, stream) + ((self.rules.first_speed() + at) * size_of::<f64>()) as u64
    }

    /// Sends the request for the next step, if the card does not have it; speeds that limit it are written later, if
    /// they are `reduced`.
    fn tell(
        &mut self,
        stream: &Arc<CudaStream>,
        asked: Asked,
        speeds: Speeds,
    ) -> Result<(), CudaError> {
        if self.told == Some((asked, speeds)) {
            return Ok(());
        }
        let numbers = self.rules.numbers(asked, &[]);
        let copy = stream.memcpy_htod(&numbers, &mut self.state);
        copy.map_err(CudaError::driver("copying the state to the card"))?;
        self.told = Some((asked, speeds));
        self.tell_between(stream, asked.t)
    }

    /// Announces a step of a given length.
    pub(crate) fn tell_given(
        &mut self,
        stream: &Arc<CudaStream>,
        t: f64,
        dt: f64,
    ) -> Result<(), CudaError> {
        self.tell(stream, Asked::given(t, dt), Speeds::None)
    }

    /// Announces a step whose length the card finds.
    pub(crate) fn tell_asked(
        &mut self,
        stream: &Arc<CudaStream>,
        asked: Asked,
    ) -> Result<(), CudaError> {
        self.tell(stream, asked, Speeds::Reduced)
    }

    /// Announces several steps whose lengths the card finds, of which it accepts those that end with a Courant number of
    /// no more than `limit`.
    pub(crate) fn tell_several(
        &mut self,
        stream: &Arc<CudaStream>,
        asked: Asked,
        limit: f64,
    ) -> Result<(), CudaError> {
        self.tell_asked(stream, asked)?;
        let mut numbers = [0.0; several::STEPS];
        numbers[several::LIMIT] = limit;
        let head = &mut self.several.slice_mut(..several::STEPS);
        let copy = stream.memcpy_htod(&numbers, head);
        copy.map_err(CudaError::driver("copying the state to the card"))
    }

    /// Starts the kernel that begins a step, and hands all uniforms to their kernels on the first card. Captures hold
    /// this, so it changes nothing here: see [`begun`](Self::begun).
    pub(crate) fn begin(&mut self, stream: &Arc<CudaStream>) -> Result<(), CudaError> {
        self.start_begin(stream, false)
    }

    /// Starts the kernel that accepts the last of several steps and begins the next one, in the same way.
    pub(crate) fn begin_next(&mut self, stream: &Arc<CudaStream>) -> Result<(), CudaError> {
        self.start_begin(stream, true)
    }

    fn start_begin(&mut self, stream: &Arc<CudaStream>, next: bool) -> Result<(), CudaError> {
        let failed = CudaError::driver("beginning a step");
        let count = self.order.len() as i32;
        let kernel = if next { &self.begin_next } else { &self.begin };
        let mut launch = stream.launch_builder(kernel);
        launch.arg(&mut self.state).arg(&mut *self.times);
        launch.arg(&self.order).arg(&count).arg(&mut *self.taken);
        if next {
            launch.arg(&mut self.several);
        }
        // SAFETY: the arguments are those of the kernel; `taken` has room for as many values as
        // `order` has numbers, and `several` for as many steps as are begun.
        unsafe { launch.launch(CONFIG) }.map_err(&failed)?;
        hand_on(&self.copies, stream)
    }

    /// Hands the uniforms of a step that was begun to their kernels on another card: on that of this number behind the
    /// first.
    pub(crate) fn take_over(
        &mut self,
        other: usize,
        stream: &Arc<CudaStream>,
    ) -> Result<(), CudaError> {
        let Other { take_over, own, copies } = &mut self.others[other];
        let count = self.order.len() as i32;
        let mut launch = stream.launch_builder(take_over);
        launch.arg(&*self.taken).arg(&count).arg(own);
        // SAFETY: the arguments are those of the kernel; both arrays have room for as many values as `order` has
        // numbers, and the card may read the first one.
        unsafe { launch.launch(CONFIG) }.map_err(CudaError::driver("taking uniforms over"))?;
        hand_on(copies, stream)
    }

    /// Notes that a step of a given length was begun.
    pub(crate) fn begun(&mut self, t: f64, dt: f64) {
        let step = Asked::given(t, dt);
        self.pass(self.rules.step(step, &[]));
    }

    /// Reads the speeds and the step that the card has begun.
    pub(crate) fn read(
        &mut self,
        stream: &Arc<CudaStream>,
    ) -> Result<(Vec<f64>, Length), CudaError> {
        let failed = CudaError::driver("reading the state of the card");
        let mut state = vec![0.0; self.state.len()];
        let copy = stream.memcpy_dtoh(&self.state, &mut state);
        copy.and_then(|()| stream.synchronize()).map_err(&failed)?;
        let length = Length { dt: state[place::DT], end: state[place::T] };
        self.pass(length);
        Ok((state.split_off(self.rules.first_speed()), length))
    }

    /// Accepts the last of several steps, and reads those that were accepted, with the time at their end; the first has
    /// this number.
    pub(crate) fn read_several(
        &mut self,
        stream: &Arc<CudaStream>,
        first: u64,
    ) -> Result<(Vec<Moment>, f64), CudaError> {
        let mut launch = stream.launch_builder(&self.accept_last);
        launch.arg(&self.state).arg(&mut self.several);
        // SAFETY: the arguments are those of the kernel.
        unsafe { launch.launch(CONFIG) }.map_err(CudaError::driver("accepting a step"))?;
        let failed = CudaError::driver("reading the state of the card");
        let mut several = vec![0.0; self.several.len()];
        let copy = stream.memcpy_dtoh(&self.several, &mut several);
        copy.map_err(&failed)?;
        let (_, last) = self.read(stream)?;
        let [begun, accepted] = [several::BEGUN, several::ACCEPTED].map(|at| several[at] as usize);
        let steps = several[several::STEPS..].chunks_exact(2).take(begun);
        let moment =
            |(number, step): (u64, &[f64])| Moment { step: number, t: step[0], dt: step[1] };
        let mut moments: Vec<Moment> = (first..).zip(steps).map(moment).collect();
        let end = moments.get(accepted).map_or(last.end, |next| next.t);
        moments.truncate(accepted);
        Ok((moments, end))
    }

    /// Advances the card's time to the end of the step.
    fn pass(&mut self, length: Length) {
        self.dt = Some(length.dt);
        if let Some((asked, _)) = &mut self.told {
            asked.t = length.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::compile::nvrtc::tests::nvrtc;
    use crate::step::tests::rules;

    #[test]
    fn the_text_compiles_for_each_architecture() {
        let Some(nvrtc) = nvrtc() else {
            return;
        };
        let rules = rules();
        assert!(rules.depend_on_time);
        for text in [text::<f32>(&rules), text::<f64>(&rules)] {
            let text = text.unwrap();
            for architecture in ["sm_80", "sm_90", "sm_100"] {
                let compiled = nvrtc.compile(&text, "clock.cu", architecture).unwrap();
                assert_eq!(compiled.kernels.len(), 4);
                assert!(!compiled.kernels.iter().any(|kernel| kernel.spills()));
            }
        }
    }
}
