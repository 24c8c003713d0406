//! Fake device, compiler, and clock. They behave as configured, and record the calls.

use falchion::{cuda::report::Report, nest::GemmDesc};
use falchion_lab::{
    Error,
    bench::{Launch, Session, Settings, Stretch, Timer},
    explore::trials::{Compiler, Device},
};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Mutex,
};

/// Recorded calls in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Call {
    Verified(GemmDesc),
    Launched(GemmDesc),
    Reference(usize),
    /// Timing of a block with this number of launches.
    Timed(usize),
}

/// Configured outcome of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    Fails,
    Spills,
    Wrong,
    /// The kernel ends the process, as a crash of the device does.
    Kills,
    /// The kernel is correct and takes this number of microseconds.
    Takes(f64),
}

pub type Calls = Rc<RefCell<Vec<Call>>>;

/// Device on which every description has an outcome, and on which launches become slower over time.
pub struct Fake {
    pub asked: Calls,
    /// Device time since the block began, in microseconds.
    spent: Rc<Cell<f64>>,
    fate: fn(&GemmDesc) -> Fate,
    /// Slowdown per launch, applied to all later launches.
    pub drift: Rc<Cell<f64>>,
    slow: Rc<Cell<f64>>,
}

/// Reference that candidates are measured with. If it takes forever, it cannot be launched.
pub struct Reference {
    pub at: usize,
    pub us: f64,
    asked: Calls,
    spent: Rc<Cell<f64>>,
    slow: Rc<Cell<f64>>,
}

pub struct Clock {
    asked: Calls,
    spent: Rc<Cell<f64>>,
    now: f64,
}

/// Short time limits for tests.
pub const BRIEF: Settings = Settings {
    first_warm_seconds: 0.01,
    warm_seconds: 0.01,
    block_ms: 2.0,
    screen_ms: 1.0,
    rounds_min: 5,
    rounds_max: 7,
    spread: 0.01,
    seconds: 1.0,
    graph_below_us: 0.0,
};

impl Fake {
    pub fn new(fate: fn(&GemmDesc) -> Fate) -> Self {
        let slow = Rc::new(Cell::new(1.0));
        Self { asked: Calls::default(), spent: Rc::default(), fate, drift: Rc::default(), slow }
    }

    pub fn reference(&self, at: usize, us: f64) -> Reference {
        Reference {
            at,
            us,
            asked: self.asked.clone(),
            spent: self.spent.clone(),
            slow: self.slow.clone(),
        }
    }

    pub fn clock(&self) -> Clock {
        Clock { asked: self.asked.clone(), spent: self.spent.clone(), now: 0.0 }
    }

    pub fn with_session<T>(&self, work: impl FnOnce(&mut Session<'_>) -> T) -> T {
        let mut clock = self.clock();
        work(&mut Session::new(&mut clock, BRIEF))
    }
}

impl Device for Fake {
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error> {
        self.asked.borrow_mut().push(Call::Verified(*desc));
        match (self.fate)(desc) {
            Fate::Wrong => Ok(Some("7 elements are wrong".to_owned())),
            Fate::Kills => Err(falchion::Error::Driver {
                call: "cuStreamSynchronize",
                code: 700,
                name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(),
            }
            .into()),
            _ => Ok(None),
        }
    }

    fn launch(&self, desc: &GemmDesc, _set: usize) -> Result<(), Error> {
        self.asked.borrow_mut().push(Call::Launched(*desc));
        let Fate::Takes(us) = (self.fate)(desc) else { panic!("{desc:?} must not be launched") };
        self.spent.set(self.spent.get() + us * self.slow.get());
        self.slow.set(self.slow.get() + self.drift.get());
        Ok(())
    }
}

impl Launch for Reference {
    fn launch(&mut self, _set: usize) -> Result<(), Error> {
        if self.us.is_infinite() {
            return Err(Error::Measurement { because: "it cannot be launched".to_owned() });
        }
        self.asked.borrow_mut().push(Call::Reference(self.at));
        self.spent.set(self.spent.get() + self.us * self.slow.get());
        Ok(())
    }

    fn name(&self) -> &str {
        "the reference"
    }
}

impl Timer for Clock {
    fn looped(&mut self, candidate: &mut dyn Launch, stretch: Stretch) -> Result<f64, Error> {
        self.spent.set(0.0);
        stretch.launch(candidate)?;
        self.asked.borrow_mut().push(Call::Timed(stretch.launches));
        self.now += self.spent.get() / 1e6;
        Ok(self.spent.get())
    }

    fn capture(
        &mut self,
        _slot: usize,
        _candidate: &mut dyn Launch,
        _stretch: Stretch,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    fn replayed(&mut self, slot: usize, _replays: usize) -> Result<f64, Error> {
        Err(Error::Measurement { because: format!("slot {slot} is empty") })
    }

    fn seconds(&mut self) -> f64 {
        self.now
    }
}

/// Compiler that records each compilation and its thread.
pub struct FakeCompiler {
    pub fate: fn(&GemmDesc) -> Fate,
    pub compiled: Mutex<Vec<(GemmDesc, std::thread::ThreadId)>>,
}

impl FakeCompiler {
    pub fn new(fate: fn(&GemmDesc) -> Fate) -> Self {
        Self { fate, compiled: Mutex::default() }
    }
}

impl Compiler for FakeCompiler {
    fn compile(&self, desc: &GemmDesc) -> Result<Report, falchion::Error> {
        self.compiled.lock().unwrap().push((*desc, std::thread::current().id()));
        match (self.fate)(desc) {
            Fate::Fails => Err(falchion::Error::Compile {
                log: "error: é".repeat(2000),
                node: None,
                transform: None,
            }),
            Fate::Spills => {
                Ok(Report { spill_store_bytes: 24, spill_load_bytes: 40, ..Report::default() })
            }
            _ => Ok(Report::default()),
        }
    }
}
