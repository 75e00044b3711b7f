//! The thread that writes frames, and the queue before it.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::{Format, FrameError, Moment, Values};

/// A part of a frame on its way to the thread.
enum Message {
    /// A frame begins, in the format of this number.
    Begin(usize, Moment),
    /// The next bytes of a part.
    Piece(Vec<u8>),
    /// A whole part, whose bytes the thread takes.
    Part(Box<dyn Values + Send>),
    /// The end of a part.
    End,
    /// All that was sent before is to be written.
    Flush(SyncSender<()>),
}

/// Writes frames by a thread of its own, in the order in which they are handed over. The run waits only while the queue is
/// full, or to [flush](Self::flush). On processes that do not write there is no thread, and pieces are dropped.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<(), FrameError>>>,
    /// Was the error of the thread told?
    has_ended: bool,
}

impl FrameWriter {
    /// Starts the thread, with a queue of so many pieces.
    pub(crate) fn start(formats: Vec<Box<dyn Format>>, room: usize) -> Result<Self, FrameError> {
        let (sender, receiver) = sync_channel(room);
        let thread = thread::Builder::new().name("frames".into());
        let thread = thread
            .spawn(move || write_all(formats, receiver))
            .map_err(|source| FrameError::write("the thread of frames".as_ref(), source))?;
        Ok(Self { sender: Some(sender), thread: Some(thread), has_ended: false })
    }

    /// Makes a writer that drops all pieces, for processes that take part and do not write.
    pub(crate) fn silent() -> Self {
        Self { sender: None, thread: None, has_ended: false }
    }

    /// Does this process write?
    pub(crate) fn writes(&self) -> bool {
        self.sender.is_some()
    }

    /// Begins a frame in the format of a number.
    pub(crate) fn begin(&mut self, format: usize, moment: Moment) -> Result<(), FrameError> {
        self.send(Message::Begin(format, moment))
    }

    /// Hands over the next bytes of a part.
    pub(crate) fn piece(&mut self, bytes: Vec<u8>) -> Result<(), FrameError> {
        self.send(Message::Piece(bytes))
    }

    /// Hands over a whole part, whose bytes the thread takes.
    pub(crate) fn part(&mut self, values: Box<dyn Values + Send>) -> Result<(), FrameError> {
        self.send(Message::Part(values))
    }

    /// Ends a part.
    pub(crate) fn end(&mut self) -> Result<(), FrameError> {
        self.send(Message::End)
    }

    fn send(&mut self, message: Message) -> Result<(), FrameError> {
        match self.sender.as_ref().map(|sender| sender.send(message)) {
            Some(Err(_)) => Err(self.reason()),
            // Whoever goes on after an error is told that no frame is written any more.
            None if self.has_ended => Err(FrameError::Gone),
            Some(Ok(())) | None => Ok(()),
        }
    }

    /// Returns the error that has ended the thread, if it has ended.
    pub(crate) fn check(&mut self) -> Result<(), FrameError> {
        match &self.thread {
            Some(thread) if thread.is_finished() => Err(self.reason()),
            _ => Ok(()),
        }
    }

    /// Has the thread ended by an error that a call has told?
    pub(crate) fn has_told(&self) -> bool {
        self.has_ended
    }

    /// Waits until all frames are written.
    ///
    /// # Errors
    /// The error of the thread; that it has ended if that error was told before.
    pub(crate) fn flush(&mut self) -> Result<(), FrameError> {
        let (done, waits) = sync_channel(1);
        self.send(Message::Flush(done))?;
        if self.writes() && waits.recv().is_err() {
            return Err(self.reason());
        }
        Ok(())
    }

    /// Returns the error that has ended the thread.
    fn reason(&mut self) -> FrameError {
        self.sender = None;
        self.has_ended = true;
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(error))) => error,
            Some(Ok(Ok(()))) | Some(Err(_)) | None => FrameError::Gone,
        }
    }
}

impl Drop for FrameWriter {
    /// Waits for the frames that were handed over as a whole.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes all that comes, until an error or the end of the run.
fn write_all(
    mut formats: Vec<Box<dyn Format>>,
    receiver: Receiver<Message>,
) -> Result<(), FrameError> {
    let mut queue = Queue { messages: receiver, part: None };
    while let Ok(message) = queue.messages.recv() {
        match message {
            Message::Begin(format, moment) => {
                let format = formats.get_mut(format).ok_or(FrameError::Gone)?;
                match format.write(&moment, &mut queue) {
                    // The run has ended amid the frame, and knows why.
                    Err(FrameError::Gone) => return Ok(()),
                    written => written?,
                }
            }
            Message::Flush(done) => {
                let _ = done.send(());
            }
            Message::Piece(_) | Message::Part(_) | Message::End => {}
        }
    }
    Ok(())
}

/// The pieces of a frame that come from the run.
struct Queue {
    messages: Receiver<Message>,
    /// A part that came as a whole, until its end.
    part: Option<Box<dyn Values + Send>>,
}

impl Values for Queue {
    fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        if self.part.is_none() {
            match self.messages.recv() {
                Ok(Message::Piece(bytes)) => return Ok(Some(bytes)),
                Ok(Message::End) => return Ok(None),
                Ok(Message::Part(part)) => self.part = Some(part),
                Ok(Message::Begin(..) | Message::Flush(_)) | Err(_) => {
                    return Err(FrameError::Gone);
                }
            }
        }
        let next = self.part.as_mut().map_or(Ok(None), |part| part.next())?;
        if next.is_none() {
            self.part = None;
        }
        Ok(next)
    }
}
