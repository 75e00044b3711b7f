//! Ranks that are threads of one process: the same calls without a library.

mod table;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::{env, fs, process, slice, thread};

use super::{Exchange, Message, Parcel, Ranks, Transport};
use crate::io::Npz;
use crate::{Axis, Boundary, Error, Quantity, Simulation, Source, SystemDef};

/// Messages by their kind, their sender and their receiver.
type Boxes = BTreeMap<(Kind, usize, usize), VecDeque<Vec<u8>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exchange,
    Gather,
}

/// One of several threads that send messages to each other.
#[derive(Clone, Debug)]
struct Thread {
    rank: usize,
    ranks: usize,
    post: Arc<(Mutex<Boxes>, Condvar)>,
}

impl Thread {
    fn send(&self, kind: Kind, to: usize, bytes: Vec<u8>) {
        let (boxes, sent) = &*self.post;
        boxes.lock().unwrap().entry((kind, self.rank, to)).or_default().push_back(bytes);
        sent.notify_all();
    }

    fn receive(&self, kind: Kind, from: usize) -> Vec<u8> {
        let (boxes, sent) = &*self.post;
        let mut boxes = boxes.lock().unwrap();
        loop {
            let of = boxes.get_mut(&(kind, from, self.rank));
            match of.and_then(VecDeque::pop_front) {
                Some(bytes) => return bytes,
                None => boxes = sent.wait(boxes).unwrap(),
            }
        }
    }
}

impl Transport for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn post(&self, messages: Vec<Message>) -> Box<dyn Exchange> {
        let coming = messages.iter().map(|message| (message.peer, message.coming)).collect();
        for Message { peer, bytes, .. } in messages {
            self.send(Kind::Exchange, peer, bytes);
        }
        Box::new(Posted { of: self.clone(), coming })
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        (0..self.ranks).for_each(|to| self.send(Kind::Gather, to, own.to_vec()));
        (0..self.ranks).map(|from| self.receive(Kind::Gather, from)).collect()
    }

    unsafe fn exchange(&self, parcels: &[Parcel]) {
        let message = |p: &Parcel| {
            // SAFETY: the caller promises that so many bytes are there.
            let bytes = unsafe { slice::from_raw_parts(p.sent.0 as *const u8, p.sent.1) };
            Message { peer: p.peer, bytes: bytes.to_vec(), coming: p.coming.1 }
        };
        let come = self.post(parcels.iter().map(message).collect()).wait();
        for (parcel, bytes) in parcels.iter().zip(come) {
            // SAFETY: as above; nothing else uses this room.
            unsafe { slice::from_raw_parts_mut(parcel.coming.0 as *mut u8, bytes.len()) }
                .copy_from_slice(&bytes);
        }
    }

    fn any(&self, own: bool) -> bool {
        self.gather(&[own.into()]).contains(&vec![1])
    }

    fn host(&self) -> String {
        "here".to_string()
    }

    fn abort(&self, code: u8) -> ! {
        panic!("ended with {code}")
    }
}

#[derive(Debug)]
struct Posted {
    of: Thread,
    coming: Vec<(usize, usize)>,
}

impl Exchange for Posted {
    fn wait(self: Box<Self>) -> Vec<Box<[u8]>> {
        let receive = |(peer, length): &(usize, usize)| {
            let bytes = self.of.receive(Kind::Exchange, *peer);
            assert_eq!(bytes.len(), *length);
            bytes.into_boxed_slice()
        };
        self.coming.iter().map(receive).collect()
    }
}

/// Does the same on each of several ranks; returns the results.
fn on_ranks<R: Send>(ranks: usize, run: impl Fn(Ranks) -> R + Sync) -> Vec<R> {
    let post = Arc::new((Mutex::new(Boxes::new()), Condvar::new()));
    let thread = |rank| Ranks(Arc::new(Thread { rank, ranks, post: post.clone() }));
    thread::scope(|scope| {
        let run = &run;
        let threads = (0..ranks).map(thread).map(|ranks| scope.spawn(move || run(ranks)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn flow() -> SystemDef {
    let text = "pub system Flow in 2d {
            field q: scalar;
            source s: scalar;
            let steep = d[x](q)*d[y](q);
            ddt(q) = 0.05*lap(q) - q*d[x](q) + d[y](steep) + s;
            observe mass = sum(q);
            observe top = max(q);
            cfl { advective: abs(q); diffusive: 0.05 }
        }
        scheme s for Flow { space: central<order = 4>; mixed: composed; time: rk3_williamson; }";
    SystemDef::from_text("flow.pde", text).unwrap()
}

/// All bits of a run, its time, an expression in all cells, and the error that its last steps end with.
fn run(
    ranks: Ranks,
    patches: [usize; 3],
    (cells, ghosts): ([usize; 3], usize),
) -> (Vec<u64>, f64, Vec<u64>, String) {
    let system = flow();
    let run = Simulation::<f64>::builder(&system).cells(cells).cfl(0.2).threads(1);
    let run = run
        .boundary(Axis::X, Boundary::outflow())
        .patches(patches)
        .ghosts(ghosts)
        .ranks(ranks)
        .unchecked_step(true);
    let source = Source::unsteady(|x, y, _, t| (x + t).sin() * y);
    let mut simulation = run.source("s", source).build().unwrap();
    simulation.set("q", |x, y, _| 1.0 + 0.3 * (6.0 * x).sin() * (6.3 * y).cos()).unwrap();
    simulation.run(5, |_, _| ()).unwrap();
    let slope = Quantity::new(&system, "d[x](q)").unwrap();
    let slope = simulation.evaluate(&slope).unwrap().iter().map(|v| v.to_bits()).collect();
    let (bits, t) = (simulation.bits().unwrap(), simulation.t());
    planes_are_those_of_fields(&mut simulation, "d[x](q)");
    simulation.set("q", |x, _, _| if x > 0.8 { -1e200 } else { 1.0 }).unwrap();
    simulation.set_dt(0.1).unwrap();
    let failed: Result<_, Error> = simulation.run(50, |_, _| ());
    (bits, t, slope, failed.unwrap_err().to_string())
}

/// Planes that ranks gather are those of the fields that they gather, and a file has the same values.
fn planes_are_those_of_fields(simulation: &mut Simulation<f64>, quantity: &str) {
    let slope = Quantity::new(simulation.system(), quantity).unwrap();
    for (axis, at) in [(Axis::X, 11), (Axis::Y, 3), (Axis::Z, 0)] {
        let normal = ndarray::Axis(2 - axis.index());
        let plane = simulation.field_plane("q", (axis, at)).unwrap();
        assert_eq!(plane, simulation.field("q").unwrap().index_axis(normal, at));
        let plane = simulation.evaluate_plane(&slope, (axis, at)).unwrap();
        assert_eq!(plane, simulation.evaluate(&slope).unwrap().index_axis(normal, at));
    }
    let error = simulation.field_plane("q", (Axis::Y, 99)).unwrap_err().to_string();
    assert!(error.contains("the cell of a plane along y"), "{error}");
    let name = format!("planes-{}-{:?}.npz", process::id(), thread::current().id());
    let path = env::temp_dir().join(name.replace(['(', ')'], "-"));
    let file = simulation.begin_npz(&path, &["q"]).unwrap();
    assert_eq!(file.is_some(), simulation.ranks().is_first());
    if let Some(file) = file {
        file.finish().unwrap();
        let written = Npz::open(&path).unwrap().array_f64("q").unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(written, simulation.field("q").unwrap().into_dyn());
    } else {
        simulation.field("q").unwrap();
    }
}

/// Rows that are cut, rows that are whole, and patches of several sizes.
#[test]
fn ranks_have_the_bits_and_the_errors_of_one_process() {
    for (mesh, cuts) in [
        (([13, 11, 1], 1), vec![(2, [1, 2, 1]), (3, [3, 1, 1]), (4, [2, 3, 1])]),
        // Ghost cells that last for a step.
        (([33, 30, 1], 3), vec![(2, [1, 2, 1]), (4, [2, 2, 1])]),
    ] {
        let expected = run(Ranks::alone(), [1; 3], mesh);
        assert!(expected.3.contains("is not finite"), "{}", expected.3);
        for (ranks, patches) in cuts {
            for found in on_ranks(ranks, |ranks| run(ranks, patches, mesh)) {
                assert_eq!(found, expected, "{ranks} ranks");
            }
        }
    }
}

#[test]
fn ranks_agree() {
    let agreed = on_ranks(3, |ranks| {
        let own = ranks.rank();
        let unlike = ranks.first_unlike(if own == 2 { b"b" } else { b"a" });
        (ranks.any(own == 1), ranks.any(false), ranks.of_first(own as u64 + 7), unlike)
    });
    assert_eq!(agreed, [(true, false, 7, Some(2)); 3]);
    for (rank, (least, joined, gathered)) in on_ranks(3, |ranks| {
        let own = ranks.rank() as u64;
        let mut joined = [0, 0, 0, 7 << 60];
        joined[own as usize] = own + 5;
        ranks.join(&mut joined);
        (ranks.least(9 - own), joined, ranks.gather_on_first(&vec![own as u8; own as usize]))
    })
    .into_iter()
    .enumerate()
    {
        assert_eq!((least, joined), (7, [5, 6, 7, 7 << 60]));
        let all = vec![vec![], vec![1], vec![2, 2]];
        assert_eq!(gathered, if rank == 0 { all } else { Vec::new() });
    }
    let shares = on_ranks(2, |ranks| (ranks.on_this_host(), ranks.cores()));
    assert!(shares.iter().all(|(host, cores)| *host == 2 && cores.is_none_or(|n| n >= 1)));
}
