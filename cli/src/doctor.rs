//! `falchion doctor` checks libraries and devices, and names remedies.

use crate::{
    cuda::{self, Place},
    failure::Failure,
    gemm, print,
};
use falchion::{Error, internals::nest::Request};
use falchion_check::Mode;
use serde_json::json;

/// M, N, and K of the test GEMMs: odd, and larger than one tile.
const EXTENTS: (usize, usize, usize) = (259, 131, 67);

/// The result of one check.
struct Finding {
    what: &'static str,
    found: bool,
    /// Details of the item, or the reason for the failure.
    said: String,
    /// Searched paths of a library.
    tried: Vec<String>,
    /// Remedy for a missing item.
    remedy: &'static str,
}

impl Finding {
    fn found(what: &'static str, said: String) -> Self {
        Self { what, found: true, said, tried: Vec::new(), remedy: "" }
    }

    fn from_result(
        what: &'static str,
        found: Result<String, Failure>,
        remedy: &'static str,
    ) -> Self {
        match found {
            Ok(said) => Self::found(what, said),
            Err(Failure::Refused(said) | Failure::Unverified(said)) => {
                Self { what, found: false, said, tried: Vec::new(), remedy }
            }
        }
    }

    /// The result of loading a library. The error holds a remedy and the searched paths.
    fn library(what: &'static str, found: Result<String, Error>, remedy: &'static str) -> Self {
        match found {
            Err(Error::Library { library, tried, because, remedy }) => {
                let said = format!("{library} could not be loaded: {because}");
                Self { what, found: false, said, tried, remedy }
            }
            found => Self::from_result(what, found.map_err(Failure::from), remedy),
        }
    }
}

/// Runs the command. `verbose` lists the searched paths.
pub fn run(verbose: bool, json: bool) -> Result<(), Failure> {
    let host = host();
    let (host_works, mut findings) = (host.found, vec![cpu(), memory(), host]);
    let cuda = gpu();
    let cuda_works = cuda.iter().all(|finding| finding.found);
    findings.extend(cuda);
    if json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| json!({ "what": f.what, "found": f.found, "said": f.said, "remedy": (!f.found).then_some(f.remedy), "tried": f.tried }))
            .collect();
        print::line(
            &json!({ "host": host_works, "cuda": cuda_works, "findings": list }).to_string(),
        );
    } else {
        print::table(findings.iter().map(|f| {
            let mark = if f.found { "found" } else { "missing" };
            // The remedy precedes the reason.
            let sentence = |text: &str| {
                if text.is_empty() {
                    String::new()
                } else {
                    format!("{}.", text.trim_end_matches('.'))
                }
            };
            let said = if f.found {
                f.said.clone()
            } else {
                format!("{} {}", sentence(f.remedy), sentence(&f.said))
            };
            vec![f.what.to_owned(), mark.to_owned(), print::visible(said.trim())]
        }));
        if verbose {
            for finding in findings.iter().filter(|finding| !finding.tried.is_empty()) {
                print::line(&format!("\nSearched paths for {}:", finding.what));
                finding
                    .tried
                    .iter()
                    .for_each(|place| print::line(&format!(" {}", print::visible(place))));
            }
        } else if findings.iter().any(|finding| !finding.tried.is_empty()) {
            print::line("\n--verbose lists the searched paths");
        }
        let cuda = if cuda_works { "CUDA works" } else { "CUDA is unavailable" };
        let host = if host_works { "the host works" } else { "the host does not work" };
        print::line(&format!("\n{host}; {cuda}"));
    }
    if host_works {
        Ok(())
    } else {
        Err(Failure::Unverified("the host executor computes a wrong result".to_owned()))
    }
}

fn cpu() -> Finding {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut said = vec![std::env::consts::ARCH];
    said.extend(falchion_lab::resources::cpu_features());
    Finding::found("CPU", format!("{}; {threads} threads", said.join(" ")))
}

fn memory() -> Finding {
    let said = falchion_lab::resources::available_bytes()
        .map_or("the available memory is unknown".to_owned(), |bytes| {
            format!("{} MiB available", bytes >> 20)
        });
    Finding::found("memory", said)
}

fn host() -> Finding {
    let remedy = "Report the failure with the output of falchion doctor --json.";
    Finding::from_result("host executor", product(&Place::Host), remedy)
}

fn gpu() -> Vec<Finding> {
    let mut findings = vec![
        Finding::library(
            "cache of kernels",
            cuda::cache(),
            "Set FALCHION_CACHE_DIR to a folder that you own, or to off.",
        ),
        Finding::library("NVRTC", cuda::nvrtc(), "Install another version of NVRTC."),
        Finding::library("CUDA driver", cuda::driver(), "Install a newer driver."),
    ];
    let missing: Vec<&str> =
        findings[1..].iter().filter(|finding| !finding.found).map(|finding| finding.what).collect();
    let after = format!("The check needs {}", missing.join(" and "));
    let (device, kernel) = match missing.is_empty().then(|| cuda::open(0)) {
        None => (Err(Failure::refused(after.clone())), Err(Failure::refused(after))),
        Some(Err(failure)) => (Err(failure), Err(Failure::refused("The check needs a device"))),
        Some(Ok(device)) => {
            let said = format!("{}, sm_{}, up to --arch {}", device.name, device.sm, device.newest);
            (Ok(said), product(&Place::Cuda(device)))
        }
    };
    findings.push(Finding::from_result(
        "device",
        device,
        "Fix the missing items above, and check nvidia-smi and CUDA_VISIBLE_DEVICES.",
    ));
    findings.push(Finding::from_result("kernel", kernel, "Fix the missing items above."));
    findings
}

/// Computes and verifies a small GEMM.
fn product(place: &Place) -> Result<String, Failure> {
    let resolved = Request::default().resolve(place.target())?;
    let mut product = gemm::random_product(&resolved, EXTENTS, 1)?;
    match place {
        Place::Host => product.run(&resolved.desc, Mode::Fast)?,
        Place::Cuda(device) => drop(device.prepare(&resolved.desc)?.run(&mut product)?),
    }
    let verdict = product.verify(&resolved.desc)?;
    gemm::require_verified(verdict)?;
    let (m, n, k) = EXTENTS;
    Ok(format!(
        "{m} x {n} x {k} is verified; the largest error is {:.3} of its bound",
        verdict.error_over_bound
    ))
}
