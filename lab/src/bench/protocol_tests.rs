use super::*;
use std::{cell::RefCell, collections::VecDeque, rc::Rc};

/// A contender with scripted launch times. The last time repeats.
struct Fake {
    name: String,
    time_us: Rc<RefCell<f64>>,
    script: VecDeque<f64>,
    broken: bool,
    calls: usize,
}

/// The calls of the clock, in order: contender, number of launches, first set.
type Log = Rc<RefCell<Vec<(String, usize, usize)>>>;

/// A clock without a device. A contender sets the time of its current launch, and the clock adds
/// the times.
struct FakeClock {
    now_us: f64,
    current: Rc<RefCell<f64>>,
    log: Log,
    capturable: bool,
    slots: Vec<(String, f64)>,
    /// Factors on the times of blocks, used cyclically.
    noise: Vec<f64>,
    blocks: usize,
}

impl Launch for Fake {
    fn launch(&mut self, _set: usize) -> Result<(), Error> {
        if self.broken {
            return Err(Error::Measurement { because: "broken".into() });
        }
        let time = if self.script.len() > 1 {
            self.script.pop_front()
        } else {
            self.script.front().copied()
        };
        *self.time_us.borrow_mut() += time.unwrap_or(1.0);
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn calls(&self) -> usize {
        self.calls
    }
}

impl FakeClock {
    fn noisy(&mut self, time: f64) -> f64 {
        self.blocks += 1;
        let time = time * self.noise[self.blocks % self.noise.len()];
        self.now_us += time;
        time
    }
}

impl Timer for FakeClock {
    fn looped(&mut self, candidate: &mut dyn Launch, stretch: Stretch) -> Result<f64, Error> {
        *self.current.borrow_mut() = 0.0;
        stretch.launch(candidate)?;
        self.log.borrow_mut().push((candidate.name().into(), stretch.launches, stretch.first_set));
        let time = *self.current.borrow();
        Ok(self.noisy(time))
    }

    fn capture(
        &mut self,
        slot: usize,
        candidate: &mut dyn Launch,
        stretch: Stretch,
    ) -> Result<bool, Error> {
        *self.current.borrow_mut() = 0.0;
        stretch.launch(candidate)?;
        self.slots.resize(self.slots.len().max(slot + 1), (String::new(), 0.0));
        self.slots[slot] = (candidate.name().into(), *self.current.borrow());
        Ok(self.capturable)
    }

    fn replayed(&mut self, slot: usize, replays: usize) -> Result<f64, Error> {
        let (name, time) = self.slots[slot].clone();
        self.log.borrow_mut().push((format!("{name}*"), replays, 0));
        Ok(self.noisy(time * replays as f64))
    }

    fn seconds(&mut self) -> f64 {
        self.now_us / 1e6
    }
}

struct Stage {
    clock: FakeClock,
    contenders: Vec<Fake>,
}

fn stage(times_us: &[f64]) -> Stage {
    let current = Rc::new(RefCell::new(0.0));
    let contenders = times_us
        .iter()
        .enumerate()
        .map(|(i, &time)| Fake {
            name: if i == 0 { "ours".into() } else { format!("peer {}", i - 1) },
            time_us: Rc::clone(&current),
            script: [time].into(),
            broken: false,
            calls: 1,
        })
        .collect();
    let clock = FakeClock {
        now_us: 0.0,
        current,
        log: Log::default(),
        capturable: true,
        slots: Vec::new(),
        noise: vec![1.0],
        blocks: 0,
    };
    Stage { clock, contenders }
}

impl Stage {
    fn against(&mut self, settings: Settings, sets: usize) -> Result<Outcome, Error> {
        let (ours, peers) = self.contenders.split_first_mut().unwrap();
        let mut peers: Vec<&mut dyn Launch> =
            peers.iter_mut().map(|p| p as &mut dyn Launch).collect();
        Session::new(&mut self.clock, settings).against(ours, &mut peers, sets)
    }

    /// Returns the last `count` calls of the clock, which are the blocks of the rounds.
    fn tail(&self, count: usize) -> Vec<(String, usize, usize)> {
        let log = self.clock.log.borrow();
        log[log.len() - count..].to_vec()
    }
}

#[test]
fn a_quiet_clock_settles_in_the_fewest_rounds() {
    let mut stage = stage(&[1000.0, 1250.0, 1100.0]);
    let outcome = stage.against(Settings::default(), 3).unwrap();
    assert_eq!(outcome.ours.samples_us.len(), 5);
    assert_eq!(
        (outcome.peer_us, outcome.peer_first_us, outcome.peer_count),
        (Some(1100.0), Some(1250.0), 2)
    );
    assert_eq!((outcome.ratio, outcome.peer.as_deref()), (Some(1.1), Some("peer 1")));
    assert!(!outcome.noisy && !outcome.captured);
}

#[test]
fn rounds_interleave_in_balanced_order_and_rotate_over_the_sets() {
    let mut stage = stage(&[1000.0, 2000.0, 5000.0]);
    stage.against(Settings::default(), 7).unwrap();
    let tail = stage.tail(15);
    let who: Vec<&str> = tail.iter().map(|(name, ..)| &name[name.len() - 1..]).collect();
    assert_eq!(who.concat(), "s01".to_owned() + "01s" + "1s0" + "10s" + "s10");
    // Blocks take 25 ms of any contender, and each continues at the set after the last used one.
    for pair in tail.windows(2) {
        assert_eq!(pair[1].2, (pair[0].2 + pair[0].1) % 7);
    }
    assert!(tail.iter().all(|(name, launches, _)| *launches
        == [25, 13, 5]["s01".find(&name[name.len() - 1..]).unwrap()]));
}

#[test]
fn the_three_fastest_peers_and_the_first_enter_the_rounds() {
    let mut stage = stage(&[1000.0, 1900.0, 1300.0, 1700.0, 1200.0, 1100.0, 1800.0]);
    let outcome = stage.against(Settings::default(), 2).unwrap();
    let names: Vec<&str> = outcome.peers.iter().map(|peer| peer.name.as_str()).collect();
    assert_eq!(names, ["peer 0", "peer 1", "peer 3", "peer 4"]);
    assert_eq!(
        (outcome.peer_count, outcome.peer_us, outcome.peer_first_us),
        (6, Some(1100.0), Some(1900.0))
    );
    let log = stage.clock.log.borrow();
    assert!((0..6).all(|i| log.iter().any(|(name, ..)| *name == format!("peer {i}"))));
}

#[test]
fn unsettled_ratios_are_noisy_after_the_last_round() {
    let mut stage = stage(&[1000.0, 1100.0]);
    stage.clock.noise = vec![1.0, 1.1, 0.9, 1.2, 1.05, 0.8, 1.15];
    let outcome = stage.against(Settings { seconds: 1e9, ..Settings::default() }, 2).unwrap();
    assert!(outcome.noisy);
    assert_eq!(outcome.ours.samples_us.len(), 25);
}

#[test]
fn the_time_limit_ends_the_rounds_after_the_minimum() {
    let noise = vec![1.0, 1.1, 0.9, 1.2, 1.05, 0.8, 1.15];
    for (seconds, least, most) in [(0.0, 5, 5), (0.6, 6, 14)] {
        let mut stage = stage(&[1000.0, 1100.0]);
        stage.clock.noise = noise.clone();
        let outcome = stage.against(Settings { seconds, ..Settings::default() }, 2).unwrap();
        let rounds = outcome.ours.samples_us.len();
        assert!(
            outcome.noisy && (least..=most).contains(&rounds),
            "{rounds} rounds in {seconds} s"
        );
    }
}

#[test]
fn short_launches_are_replayed_when_all_can_be_captured() {
    let mut stage = stage(&[10.0, 20.0]);
    let outcome = stage.against(Settings::default(), 100).unwrap();
    assert!(outcome.captured && outcome.ratio == Some(2.0));
    // One turn over the sets takes 1 ms for Falchion and 2 ms for the peer.
    assert_eq!(
        stage.tail(2).iter().map(|(name, replays, _)| (&**name, *replays)).collect::<Vec<_>>(),
        [("ours*", 25), ("peer 0*", 13)]
    );

    let mut stage = self::stage(&[10.0, 20.0]);
    stage.clock.capturable = false;
    let outcome = stage.against(Settings::default(), 100).unwrap();
    assert!(!outcome.captured && outcome.ratio == Some(2.0));
    assert!(stage.clock.log.borrow().iter().all(|(name, ..)| !name.ends_with('*')));
}

/// Launches of several calls are replayed if each call is short.
#[test]
fn launches_of_short_calls_are_replayed() {
    for (calls, captured) in [(1, false), (4, false), (9, true)] {
        let mut stage = stage(&[300.0, 400.0]);
        stage.contenders[1].calls = calls;
        assert_eq!(stage.against(Settings::default(), 10).unwrap().captured, captured, "{calls}");
    }
}

#[test]
fn the_first_warm_up_is_the_long_one() {
    let mut stage = stage(&[1000.0]);
    let (ours, _) = stage.contenders.split_first_mut().unwrap();
    let mut session = Session::new(&mut stage.clock, Settings::default());
    session.against(ours, &mut [], 2).unwrap();
    let first = session.timer.seconds();
    session.against(ours, &mut [], 2).unwrap();
    let second = session.timer.seconds() - first;
    assert!(first > 1.0 && (0.15..0.5).contains(&second), "{first} s, then {second} s");
}

#[test]
fn a_failing_peer_is_omitted_and_our_failure_is_an_error() {
    let mut stage = stage(&[1000.0, 1500.0, 1200.0]);
    stage.contenders[1].broken = true;
    let outcome = stage.against(Settings::default(), 2).unwrap();
    assert_eq!(
        (outcome.peer_count, outcome.peer_first_us, outcome.peer_us),
        (1, None, Some(1200.0))
    );
    stage.contenders[2].broken = true;
    let alone = stage.against(Settings::default(), 2).unwrap();
    assert_eq!((alone.peer_count, alone.peer_us, alone.ratio, alone.noisy), (0, None, None, false));
    stage.contenders[0].broken = true;
    assert!(stage.against(Settings::default(), 2).is_err());
}

#[test]
fn long_launches_run_once_per_block() {
    let mut stage = stage(&[150_000.0, 160_000.0]);
    stage.against(Settings::default(), 2).unwrap();
    assert!(stage.clock.log.borrow().iter().all(|(_, launches, _)| *launches == 1));
}

#[test]
fn interleave_needs_a_candidate() {
    let mut stage = stage(&[1000.0]);
    let mut session = Session::new(&mut stage.clock, Settings::default());
    let text = session.interleave(&mut [], 2).unwrap_err().to_string();
    assert!(text.contains("there is no candidate"), "{text}");
    let rounds = session.interleave(&mut [&mut stage.contenders[0]], 2).unwrap();
    assert_eq!((rounds.stats.len(), rounds.ratio.median), (1, 1.0));
}

#[test]
fn buffer_sets_exceed_the_cache() {
    assert_eq!([sets(0), sets(64 << 10), sets(100 << 20), sets(1 << 30)], [4096, 4096, 3, 2]);
}
