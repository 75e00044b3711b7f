//! The thread that writes frames, the one that reads their values, and the queues before them.

use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::{Format, FrameError, Moment, Values};

/// A part of a frame on its way to the thread.
enum Message {
    /// A frame begins, in the format of this number.
    Begin(usize, Moment),
    /// The next bytes of a part.
    Piece(Vec<u8>),
    /// A whole part, whose bytes are read beside the run.
    Part(Box<dyn Values + Send>),
    /// The values of a part could not be read.
    Failed(FrameError),
    /// The end of a part.
    End,
    /// All that was sent before is to be written.
    Flush(SyncSender<()>),
}

/// Pieces between the thread that reads values and the one that writes them.
const BETWEEN: usize = 8;

/// Writes frames by threads of its own, in the order in which they are handed over. The run waits only while the queue is
/// full, or to [flush](Self::flush). On processes that do not write there is no thread, and pieces are dropped.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    sender: Option<SyncSender<Message>>,
    /// The thread that reads the values of whole parts.
    reader: Option<JoinHandle<()>>,
    /// The thread that writes.
    thread: Option<JoinHandle<Result<(), FrameError>>>,
    /// Was the error of the thread told?
    has_ended: bool,
}

impl FrameWriter {
    /// Starts the threads, with a queue of so many pieces.
    pub(crate) fn start(formats: Vec<Box<dyn Format>>, room: usize) -> Result<Self, FrameError> {
        let (sender, queue) = sync_channel(room);
        let (pieces, receiver) = sync_channel(BETWEEN);
        let named = |name: &str| thread::Builder::new().name(name.into());
        let failed = |source| FrameError::write("the thread of frames".as_ref(), source);
        let thread = named("frames").spawn(move || write_all(formats, receiver));
        let thread = Some(thread.map_err(failed)?);
        let reader = named("values").spawn(move || read_all(&queue, &pieces));
        let reader = Some(reader.map_err(failed)?);
        Ok(Self { sender: Some(sender), reader, thread, has_ended: false })
    }

    /// Makes a writer that drops all pieces, for processes that take part and do not write.
    pub(crate) fn silent() -> Self {
        Self { sender: None, reader: None, thread: None, has_ended: false }
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

    /// Hands over a whole part, whose bytes are read beside the run.
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

    /// Waits for the thread that reads, which ends once nothing more is sent.
    fn join_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }

    /// Returns the error that has ended the thread.
    fn reason(&mut self) -> FrameError {
        self.sender = None;
        self.has_ended = true;
        self.join_reader();
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
        self.join_reader();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Reads the values of whole parts, and passes all else on, until the run ends or the thread that writes does.
fn read_all(queue: &Receiver<Message>, pieces: &SyncSender<Message>) {
    while let Ok(message) = queue.recv() {
        let passed = match message {
            Message::Part(part) => read(part, pieces),
            other => pieces.send(other),
        };
        if passed.is_err() {
            return;
        }
    }
}

/// Passes on the values of a part, piece by piece.
fn read(
    mut part: Box<dyn Values + Send>,
    pieces: &SyncSender<Message>,
) -> Result<(), SendError<Message>> {
    loop {
        match part.next() {
            Ok(Some(bytes)) => pieces.send(Message::Piece(bytes))?,
            Ok(None) => return pieces.send(Message::End),
            Err(error) => return pieces.send(Message::Failed(error)),
        }
    }
}

/// Writes all that comes, until an error or the end of the run.
fn write_all(
    mut formats: Vec<Box<dyn Format>>,
    receiver: Receiver<Message>,
) -> Result<(), FrameError> {
    let mut queue = Queue(receiver);
    while let Ok(message) = queue.0.recv() {
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
            Message::Failed(error) => return Err(error),
            Message::Piece(_) | Message::Part(_) | Message::End => {}
        }
    }
    Ok(())
}

/// The pieces of a frame that come from the run.
struct Queue(Receiver<Message>);

impl Values for Queue {
    fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        match self.0.recv() {
            Ok(Message::Piece(bytes)) => Ok(Some(bytes)),
            Ok(Message::End) => Ok(None),
            Ok(Message::Failed(error)) => Err(error),
            Ok(Message::Begin(..) | Message::Part(_) | Message::Flush(_)) | Err(_) => {
                Err(FrameError::Gone)
            }
        }
    }
}
