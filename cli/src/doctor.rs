//! `falchion doctor`: what is here, what is missing, and what to do about it.

use crate::{
    cuda::{self, Device, Place},
    failure::Failure,
    gemm, print, verify,
};
use falchion::{desc::Request, device::host::Mode, sys};
use serde_json::json;

/// m, n and k of the products that are checked: odd, and more than one tile.
const EXTENTS: (usize, usize, usize) = (259, 131, 67);

/// One thing that was looked for.
struct Finding {
    what: &'static str,
    found: bool,
    /// What was found, or why not.
    said: String,
    /// What to do where it is missing.
    remedy: &'static str,
}

impl Finding {
    fn of(what: &'static str, found: Result<String, Failure>, remedy: &'static str) -> Self {
        let (found, said) = match found {
            Ok(said) => (true, said),
            Err(Failure::Refused(because) | Failure::Unverified(because)) => (false, because),
        };
        Self { what, found, said, remedy: if found { "" } else { remedy } }
    }
}

/// Runs the command.
pub fn run(json: bool) -> Result<(), Failure> {
    let host = host();
    let (host_works, mut findings) = (host.found, vec![cpu(), memory(), host]);
    let cuda = gpu();
    let cuda_works = cuda.iter().all(|finding| finding.found);
    findings.extend(cuda);
    if json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| json!({ "what": f.what, "found": f.found, "said": f.said, "remedy": (!f.found).then_some(f.remedy) }))
            .collect();
        print::line(&json!({ "host": host_works, "cuda": cuda_works, "findings": list }).to_string());
    } else {
        print::table(findings.iter().map(|f| {
            let mark = if f.found { "found" } else { "missing" };
            let said = if f.found { f.said.clone() } else { format!("{}. {}", f.said.trim_end_matches('.'), f.remedy) };
            vec![f.what.to_owned(), mark.to_owned(), said.trim_end().to_owned()]
        }));
        let cuda = if cuda_works { "CUDA works" } else { "CUDA is unavailable" };
        let host = if host_works { "the host works" } else { "the host does not work" };
        print::line(&format!("\n{host}; {cuda}"));
    }
    if host_works { Ok(()) } else { Err(Failure::Unverified("the host does not compute what it should".to_owned())) }
}

fn cpu() -> Finding {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut said = vec![std::env::consts::ARCH];
    said.extend(sys::cpu::features());
    Finding { what: "CPU", found: true, said: format!("{}; {threads} threads", said.join(" ")), remedy: "" }
}

fn memory() -> Finding {
    let said = sys::memory::available_bytes()
        .map_or("the system does not say how much".to_owned(), |bytes| format!("{} MiB available", bytes >> 20));
    Finding { what: "memory", found: true, said, remedy: "" }
}

fn host() -> Finding {
    let remedy = "Report this with the output of falchion doctor --json.";
    Finding::of("host executor", product(&Place::Host), remedy)
}

fn gpu() -> Vec<Finding> {
    let device = cuda::open(0);
    let named = |device: &Device| format!("{}, sm_{}, up to --arch {}", device.name, device.sm, device.newest);
    let said = device.as_ref().map(named).map_err(said);
    let launched = match device {
        Ok(device) => product(&Place::Cuda(device)),
        Err(_) => Err(Failure::refused("there is no device to launch it on")),
    };
    vec![
        Finding::of("cache of kernels", cuda::cache(), "Set FALCHION_CACHE_DIR to a folder of your own, or to off."),
        Finding::of("NVRTC", cuda::nvrtc(), "Install the CUDA toolkit or Python's nvidia-cuda-nvrtc, or set FALCHION_NVRTC."),
        Finding::of("CUDA driver", cuda::driver(), "Install NVIDIA's driver, which brings libcuda."),
        Finding::of("device", said, "Check nvidia-smi, and CUDA_VISIBLE_DEVICES."),
        Finding::of("kernel", launched, "See what is missing above."),
    ]
}

/// A failure that is read by more than one.
fn said(failure: &Failure) -> Failure {
    match failure {
        Failure::Refused(because) | Failure::Unverified(because) => Failure::refused(because.clone()),
    }
}

/// Computes and checks a small product.
fn product(place: &Place) -> Result<String, Failure> {
    let resolved = Request::default().resolve(place.arch())?;
    let mut product = gemm::drawn(&resolved, EXTENTS, 1)?;
    match place {
        Place::Host => product.run(&resolved.desc, Mode::Fast)?,
        Place::Cuda(device) => drop(device.prepare(&resolved.desc)?.run(&mut product)?),
    }
    let verdict = verify::check(&resolved.desc, &product);
    gemm::judged(verdict)?;
    let (m, n, k) = EXTENTS;
    Ok(format!("computed {m} x {n} x {k}, and the largest error is {:.3} of its bound", verdict.error_over_bound))
}
