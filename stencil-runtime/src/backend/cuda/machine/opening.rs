//! Taking cards into use while the host plans: the driver and the compiler take a while to start.

use std::thread::{self, JoinHandle};

use stencil_compiler::kernel::Multiprocessor;

use super::RESERVE;
use crate::backend::cuda::card::driver;
use crate::backend::cuda::card::{Card, Opened};
use crate::backend::cuda::compile::nvrtc::Nvrtc;
use crate::backend::cuda::{Cache, CudaError};

/// A card that is being taken into use, or several that share a run. A program must not end meanwhile, so dropping this
/// waits.
#[derive(Debug)]
pub(crate) struct Opening {
    ordinals: Vec<usize>,
    /// The multiprocessors of a card that stays closed: kernels are compiled ahead for it.
    usual: Option<Multiprocessor>,
    state: State,
    compiler: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum State {
    /// Not asked for yet.
    Closed,
    Begun(JoinHandle<Result<Vec<Opened>, CudaError>>),
    Done(Result<Vec<Opened>, CudaError>),
}

impl Opening {
    /// Takes the numbers of cards; nothing is opened yet.
    pub(crate) fn new(ordinals: Vec<usize>) -> Self {
        Opening { ordinals, usual: None, state: State::Closed, compiler: None }
    }

    /// Takes cards that are in use.
    pub(crate) fn of(opened: Vec<Opened>) -> Self {
        let mut opening = Opening::new(opened.iter().map(|one| one.card.ordinal).collect());
        opening.state = State::Done(Ok(opened));
        opening
    }

    /// Stands for a card with such multiprocessors, which stays closed.
    pub(crate) fn ahead(usual: Multiprocessor) -> Self {
        let mut opening = Opening::new(vec![0]);
        opening.usual = Some(usual);
        opening
    }

    /// Begins, if there is a driver; kernels to compile are in this cache or go there.
    pub(crate) fn begin(&mut self, cache: Option<&Cache>) {
        if !matches!(self.state, State::Closed) || driver::whole().is_err() {
            return;
        }
        let ordinals = self.ordinals.clone();
        if cache.and_then(Cache::sealed_by).is_none() {
            // A failure is reported later, to the caller that needs the compiler.
            let open = || drop(Nvrtc::shared_up_to(driver::major()));
            self.compiler = Some(thread::spawn(open));
        }
        self.state = State::Begun(thread::spawn(move || open(&ordinals)));
    }

    /// Are there cards of these numbers, which generated code runs on, and a compiler for them?
    pub(crate) fn is_usable(&mut self) -> bool {
        self.wait();
        matches!(self.state, State::Done(Ok(_))) && Nvrtc::shared_up_to(driver::major()).is_ok()
    }

    /// Returns the facts about the multiprocessors of the first card, if they are known or will be.
    pub(crate) fn multiprocessor(&mut self) -> Option<Multiprocessor> {
        if matches!(self.state, State::Closed) {
            return self.usual;
        }
        self.wait();
        match &self.state {
            State::Done(Ok(opened)) => opened.first().map(|first| first.card.multiprocessor),
            State::Done(Err(_)) | State::Closed | State::Begun(_) => None,
        }
    }

    /// Is there certainly no card to use?
    pub(crate) fn is_hopeless(&self) -> bool {
        driver::whole().is_err()
    }

    /// Returns the facts about the first card, if all could be taken into use.
    pub(crate) fn card(&mut self) -> Option<&Card> {
        self.wait();
        match &self.state {
            State::Done(Ok(opened)) => opened.first().map(|first| &first.card),
            State::Done(Err(_)) | State::Closed | State::Begun(_) => None,
        }
    }

    /// Returns the bytes that so many machines may take on the first card at once, which has room for them now.
    pub(crate) fn room(&mut self, machines: usize) -> Result<Option<usize>, CudaError> {
        let cards = self.finish()?;
        let free = cards.first().map(|card| card.memory()).transpose()?;
        Ok(free.map(|[free, _]| free.saturating_sub(machines * RESERVE)))
    }

    /// Waits for the cards, and returns them.
    pub(crate) fn finish(&mut self) -> Result<Vec<Opened>, CudaError> {
        self.wait();
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Done(Ok(opened)) => {
                self.state = State::Done(Ok(opened.clone()));
                Ok(opened)
            }
            State::Done(Err(error)) => Err(error),
            State::Closed | State::Begun(_) => open(&self.ordinals),
        }
    }

    fn wait(&mut self) {
        let done = match std::mem::replace(&mut self.state, State::Closed) {
            State::Closed => open(&self.ordinals),
            State::Begun(thread) => thread.join().unwrap_or(Err(CudaError::Died)),
            State::Done(done) => done,
        };
        self.state = State::Done(done);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let State::Begun(thread) = std::mem::replace(&mut self.state, State::Closed) {
            let _ = thread.join();
        }
        if let Some(thread) = self.compiler.take() {
            let _ = thread.join();
        }
    }
}

/// Takes cards into use, which run the same machine code.
fn open(ordinals: &[usize]) -> Result<Vec<Opened>, CudaError> {
    let opened = ordinals.iter().map(|ordinal| Opened::new(*ordinal));
    let opened: Vec<Opened> = opened.collect::<Result<_, _>>()?;
    let of_first = opened.first().map(|first| first.card.architecture()).unwrap_or_default();
    match opened.iter().find(|other| other.card.architecture() != of_first) {
        None => Ok(opened),
        Some(Opened { card, .. }) => Err(CudaError::Unlike {
            card: card.ordinal,
            architecture: card.architecture(),
            of_first,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_there_is_no_card_to_wait_for() {
        let mut opening = Opening::new(vec![0]);
        if !opening.is_hopeless() {
            eprintln!("skipped: this machine has a driver");
            return;
        }
        opening.begin(None);
        assert!(matches!(opening.state, State::Closed) && opening.compiler.is_none());
        assert!(!opening.is_usable());
        assert!(opening.finish().is_err());
    }
}
