//! The clock and the power of a card, by NVIDIA's management library, which comes with the driver.
//!
//! It is opened at run time. A machine without it, or a card that does not tell, has no such
//! numbers, and that is no error.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libloading::Library;

use crate::backend::cuda::Card;

/// Names of the library, for the system loader.
const NAMES: [&str; 2] = ["libnvidia-ml.so.1", "nvml.dll"];

/// The library's number for the clock of multiprocessors.
const CLOCK_SM: c_uint = 1;

/// The library's number for the power at this moment, in milliwatts.
const POWER_INSTANT: c_uint = 186;

/// Time between two looks.
const PERIOD: Duration = Duration::from_millis(10);

/// A status is an integer, never a Rust enum: an unknown one must stay defined.
type Status = c_int;
type Device = *mut c_void;
type InitFn = unsafe extern "C" fn() -> Status;
type FindFn = unsafe extern "C" fn(*const c_char, *mut Device) -> Status;
type ClockFn = unsafe extern "C" fn(Device, c_uint, *mut c_uint) -> Status;
type PowerFn = unsafe extern "C" fn(Device, *mut c_uint) -> Status;
type FieldsFn = unsafe extern "C" fn(Device, c_int, *mut Field) -> Status;

/// A number that the library is asked for (`nvmlFieldValue_t` of its header).
#[repr(C)]
#[derive(Default)]
struct Field {
    number: c_uint,
    scope: c_uint,
    timestamp: i64,
    latency: i64,
    kind: c_int,
    status: Status,
    /// A union of eight bytes; the power is an unsigned integer in its first four.
    value: [c_uint; 2],
}

/// The power and the clock of a card at a moment, or on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The clock of its multiprocessors in MHz.
    pub clock_mhz: Option<f64>,
    /// Power in watts at the moment; on some cards only the mean of the last second.
    pub power_w: Option<f64>,
}

impl Load {
    /// Returns the mean of some looks; each number is averaged over the looks that have it.
    fn mean(looks: &[Load]) -> Load {
        let mean = |value: fn(&Load) -> Option<f64>| {
            let told: Vec<f64> = looks.iter().filter_map(value).collect();
            (!told.is_empty()).then(|| told.iter().sum::<f64>() / told.len() as f64)
        };
        Load { clock_mhz: mean(|look| look.clock_mhz), power_w: mean(|look| look.power_w) }
    }
}

/// The sensors of a card.
#[derive(Debug)]
pub struct Sensors {
    device: Device,
    clock: ClockFn,
    power: PowerFn,
    /// `None` in older libraries.
    fields: Option<FieldsFn>,
    shutdown: InitFn,
    // Kept open for as long as the functions may be called.
    _library: Library,
}

// SAFETY: the library may be called from any thread, and its handles belong to none.
unsafe impl Send for Sensors {}
// SAFETY: as above, at once too.
unsafe impl Sync for Sensors {}

impl Sensors {
    /// Opens the sensors of a card, if the library is there and knows it.
    pub fn open(card: &Card) -> Option<Self> {
        Self::at(&card.bus)
    }

    /// Opens the sensors of the card at an address on the bus.
    fn at(bus: &str) -> Option<Self> {
        // SAFETY: NVIDIA's library; its initializers have no preconditions.
        let open = |name| unsafe { Library::new(name) }.ok();
        let library = NAMES.into_iter().find_map(open)?;
        let bus = CString::new(bus).ok()?;
        // SAFETY: each name is asked for with the type that the library's header declares for it;
        // the functions are called while it is open, with texts and places that outlive the calls.
        unsafe {
            let init = *library.get::<InitFn>(b"nvmlInit_v2").ok()?;
            let shutdown = *library.get::<InitFn>(b"nvmlShutdown").ok()?;
            let find = *library.get::<FindFn>(b"nvmlDeviceGetHandleByPciBusId_v2").ok()?;
            let clock = *library.get::<ClockFn>(b"nvmlDeviceGetClockInfo").ok()?;
            let power = *library.get::<PowerFn>(b"nvmlDeviceGetPowerUsage").ok()?;
            let fields = library.get::<FieldsFn>(b"nvmlDeviceGetFieldValues");
            let fields = fields.ok().map(|found| *found);
            if init() != 0 {
                return None;
            }
            let mut device = std::ptr::null_mut();
            if find(bus.as_ptr(), &raw mut device) != 0 {
                shutdown();
                return None;
            }
            Some(Sensors { device, clock, power, fields, shutdown, _library: library })
        }
    }

    /// Reads the sensors now.
    pub fn look(&self) -> Load {
        let mut clock: c_uint = 0;
        // SAFETY: the device is one of the open library, which writes one integer.
        let told = unsafe { (self.clock)(self.device, CLOCK_SM, &raw mut clock) };
        let milliwatts = self.power_now().or_else(|| self.power_of_late());
        Load {
            clock_mhz: (told == 0).then(|| f64::from(clock)),
            power_w: milliwatts.map(|milliwatts| f64::from(milliwatts) / 1e3),
        }
    }

    /// Reads the power at this moment in milliwatts.
    fn power_now(&self) -> Option<c_uint> {
        let mut field = Field { number: POWER_INSTANT, ..Field::default() };
        // SAFETY: the device is one of the open library, which writes one field of the layout of its
        // header.
        let told = unsafe { (self.fields?)(self.device, 1, &raw mut field) };
        (told == 0 && field.status == 0 && field.value[0] > 0).then_some(field.value[0])
    }

    /// Reads the power in milliwatts; recent cards give the mean of the last second.
    fn power_of_late(&self) -> Option<c_uint> {
        let mut milliwatts: c_uint = 0;
        // SAFETY: the device is one of the open library, which writes one integer.
        let told = unsafe { (self.power)(self.device, &raw mut milliwatts) };
        (told == 0).then_some(milliwatts)
    }

    /// Does some work and reads the sensors until it is done; returns the result of the work, and the mean.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> (R, Load) {
        watched(|| self.look(), work)
    }
}

impl Drop for Sensors {
    fn drop(&mut self) {
        // SAFETY: the library was started when this was made, and is open.
        unsafe { (self.shutdown)() };
    }
}

/// Does some work while another thread reads the sensors, at least once.
fn watched<R>(look: impl Fn() -> Load + Sync, work: impl FnOnce() -> R) -> (R, Load) {
    /// Tells the thread that the work is over, however it ends.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut looks = Vec::new();
            loop {
                // The sensors show work a moment after its start.
                thread::sleep(PERIOD);
                let last = is_over.load(Ordering::Acquire);
                if !last || looks.is_empty() {
                    looks.push(look());
                }
                if last {
                    return looks;
                }
            }
        });
        let over = Over(&is_over);
        let result = work();
        drop(over);
        let looks = looks.join().unwrap_or_default();
        (result, Load::mean(&looks))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn the_mean_is_of_what_was_told() {
        let looks = [(Some(1000.0), None), (None, None), (Some(2000.0), Some(3.0))];
        let looks = looks.map(|(clock_mhz, power_w)| Load { clock_mhz, power_w });
        let mean = Load::mean(&looks);
        assert_eq!((mean.clock_mhz, mean.power_w), (Some(1500.0), Some(3.0)));
        assert_eq!(Load::mean(&[]), Load::default());
    }

    #[test]
    fn work_is_watched_until_it_is_done() {
        let looks = AtomicU32::new(0);
        let look = || Load {
            clock_mhz: Some(f64::from(looks.fetch_add(1, Ordering::Relaxed))),
            power_w: None,
        };
        let (done, load) = watched(look, || {
            thread::sleep(20 * PERIOD);
            "done"
        });
        let count = looks.load(Ordering::Relaxed);
        assert!(done == "done" && count > 1, "{count} looks");
        // The mean of 0, 1, .. is half of the last one.
        assert_eq!(load.clock_mhz, Some(f64::from(count - 1) / 2.0));
        // Short work is measured at least once.
        let (_, load) = watched(|| Load { power_w: Some(7.0), ..Load::default() }, || ());
        assert_eq!(load.power_w, Some(7.0));
    }

    #[test]
    fn a_field_has_the_layout_of_the_header() {
        assert_eq!(size_of::<Field>(), 40);
        assert_eq!(std::mem::offset_of!(Field, value), 32);
    }

    #[test]
    fn a_card_that_is_not_there_has_no_sensors() {
        assert!(Sensors::at("ffff:ff:1f.7").is_none());
        assert!(Sensors::at("not a place\0").is_none());
    }
}
