//! The begin and the end of each task of a step on each card: of a step that is not captured, whose tasks stand between events.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
use stencil_compiler::cost::{self, Span, Stream};

use super::Machine;
use super::tasks::{CapturedPart, Task};
use crate::backend::{self, cuda::CudaError};
use crate::step::Asked;
use crate::{Error, Number};

/// Steps before the one that is timed: the host is ahead of the cards then, so its own time does not count.
const AHEAD: usize = 4;

/// A task of a step on a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardSpan {
    /// The number of the card among those of the run.
    pub card: usize,
    /// The task, with the number of its launch among those that [`launched`](crate::Simulation::launched) names, in seconds
    /// after the begin of the step on this card. Other cards begin some microseconds after the first.
    pub span: Span,
}

/// Events around the tasks of a step.
#[derive(Debug)]
pub(super) struct Marks {
    /// The begin of the step on each card.
    bases: Vec<CudaEvent>,
    all: Mutex<Vec<Mark>>,
}

/// A task between two events.
#[derive(Debug)]
struct Mark {
    card: usize,
    stream: Stream,
    task: cost::Task,
    begin: CudaEvent,
    end: CudaEvent,
}

fn failed(error: DriverError) -> CudaError {
    CudaError::driver("timing the tasks of a step")(error)
}

/// Records a new event behind the work of a stream.
fn event(stream: &Arc<CudaStream>) -> Result<CudaEvent, CudaError> {
    let event = stream.context().new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
    let event = event.map_err(failed)?;
    event.record(stream).map_err(failed)?;
    Ok(event)
}

impl Marks {
    fn push(&self, mark: Mark) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
    }

    /// Waits for all tasks, and returns their times.
    fn times(self) -> Result<Vec<CardSpan>, CudaError> {
        let all = self.all.into_inner().unwrap_or_else(PoisonError::into_inner);
        let span = |Mark { card, stream, task, begin, end }: Mark| {
            let after = |event| self.bases[card].elapsed_ms(event).map_err(failed);
            let [begin, end] = [after(&begin)?, after(&end)?].map(|ms| f64::from(ms) / 1e3);
            Ok(CardSpan { card, span: Span { stream, task, begin, end } })
        };
        let spans: Result<Vec<CardSpan>, CudaError> = all.into_iter().map(span).collect();
        let mut spans = spans?;
        spans.sort_by(|a, b| {
            let place = |of: &CardSpan| (of.card, of.span.stream);
            place(a).cmp(&place(b)).then(a.span.begin.total_cmp(&b.span.begin))
        });
        Ok(spans)
    }
}

/// Returns the task as the model names it, if it is work of the stream of launches.
fn of_launches(task: &Task) -> Option<cost::Task> {
    match task {
        Task::Fill(boxes) if boxes.iter().any(Option::is_some) => Some(cost::Task::Fill),
        Task::Launch { launch, region } => Some(cost::Task::Launch(*launch, *region)),
        _ => None,
    }
}

impl<T: Number> Machine<T> {
    /// Does work on a stream of a card, between two events if tasks are timed.
    pub(super) fn marked(
        &self,
        (card, task): (usize, cost::Task),
        stream: &Arc<CudaStream>,
        work: impl FnOnce() -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let Some(marks) = &self.marks else {
            return work();
        };
        let begin = event(stream)?;
        work()?;
        let end = event(stream)?;
        marks.push(Mark { card, stream: Stream::Exchanges, task, begin, end });
        Ok(())
    }

    /// Starts a task of all cards amid a part, between two events of each if tasks are timed.
    pub(super) fn marked_on_all<R>(
        &mut self,
        task: Option<cost::Task>,
        work: impl FnOnce(&mut Self) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let task = task.filter(|_| self.marks.is_some());
        let Some(task) = task else {
            return work(self);
        };
        let events = |machine: &Self| -> Result<Vec<CudaEvent>, CudaError> {
            machine.cards().map(|(card, ..)| event(&card.stream)).collect()
        };
        let begins = events(self)?;
        let done = work(self)?;
        let ends = events(self)?;
        if let Some(marks) = &self.marks {
            for (card, (begin, end)) in begins.into_iter().zip(ends).enumerate() {
                marks.push(Mark { card, stream: Stream::Launches, task, begin, end });
            }
        }
        Ok(done)
    }

    /// Returns the name that the model has for a task, as far as tasks of its kind are timed on all cards.
    pub(super) fn mark_of(&self, task: &Task) -> Option<cost::Task> {
        self.marks.as_ref().and_then(|_| of_launches(task))
    }

    /// Returns the tasks of a step on each card; none where [`part_times`](Self::part_times) has no parts. If the step adapts to
    /// speeds, the arguments are the speeds and the request.
    pub(crate) fn timeline(
        &mut self,
        speeds: Option<(&backend::Reducer, Asked)>,
    ) -> Result<Vec<CardSpan>, Error> {
        if !self.has_parts(speeds.is_some()) {
            return Ok(Vec::new());
        }
        self.keep()?;
        let slots = self.slots.clone();
        let done = self.marked_step(speeds);
        let marks = self.marks.take();
        self.slots = slots;
        self.put_back()?;
        done?;
        let mut spans = marks.map_or(Ok(Vec::new()), Marks::times)?;
        let first = self.fused.as_ref().map_or(0, |fused| fused.first);
        for CardSpan { span, .. } in &mut spans {
            if let cost::Task::Launch(launch, _) = &mut span.task {
                *launch -= first;
            }
        }
        Ok(spans)
    }

    /// Does some steps, the last one between events.
    fn marked_step(&mut self, speeds: Option<(&backend::Reducer, Asked)>) -> Result<(), Error> {
        let step = match self.fused {
            Some(_) => CapturedPart::Fused { begins: false },
            None => CapturedPart::Step { begins: false },
        };
        let stream = self.card.stream.clone();
        if let Some((_, asked)) = speeds {
            self.clock.tell_asked(&stream, asked)?;
        }
        (0..AHEAD).try_for_each(|_| self.enqueue_part(step))?;
        let bases = self.together(|machine| -> Result<Vec<CudaEvent>, CudaError> {
            machine.cards().map(|(card, ..)| event(&card.stream)).collect()
        })?;
        self.marks = Some(Marks { bases, all: Mutex::default() });
        if let Some((of, asked)) = speeds {
            self.with_reducer(of, |machine, of| {
                machine.enqueue_part(CapturedPart::Speeds { of, t: asked.t })
            })?;
        }
        self.enqueue_part(step)?;
        if speeds.is_some() {
            // The time of the card has gone on; the next step sets it anew.
            self.clock.read(&stream)?;
        }
        Ok(())
    }
}
