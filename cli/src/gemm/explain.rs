//! `--explain`: the selected kernel, the origin of each knob, and the predicted time.

use crate::{args::NamedMachine, failure::Failure, print};
use falchion::{
    arch::Machine,
    device::ProblemSize,
    internals::{
        nest::{Origin, Resolved},
        operand::Problem,
    },
    nest::GemmDesc,
};
use falchion_lab::explain::{StatedLayout, facts, launches_of_array, layouts, on_machine};
use serde_json::{Value, json};

/// The kernel and the problem to explain.
pub struct Subject<'s> {
    /// The resolved request.
    pub resolved: &'s Resolved,
    /// The description, adapted to the scalars.
    pub desc: &'s GemmDesc,
    /// The problem, if the flags set its size, and the machine that `--explain` describes.
    pub problem: Option<(&'s Problem, NamedMachine)>,
    /// Whether the batch is a pointer array.
    pub pointers: bool,
}

impl Subject<'_> {
    /// The description, adapted to the problem if there is one.
    fn fitted(&self) -> Result<GemmDesc, Failure> {
        let Some((problem, _)) = self.problem else { return Ok(*self.desc) };
        // A pointer array has no batch stride.
        let batch = if self.pointers { 1 } else { problem.batch };
        Ok(self.desc.fitted(&Problem { batch, ..*problem })?)
    }

    /// Facts about the problem on a machine. The first fact about a pointer array is the number of
    /// launches.
    fn on_machine(
        &self,
        problem: &Problem,
        machine: &Machine,
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        if !self.pointers {
            return Ok(on_machine(self.desc, problem, machine)?);
        }
        let alone = Problem { batch: 1, ..*problem };
        let size =
            ProblemSize::new((problem.m, problem.n, problem.k)).for_array(self.desc, problem.batch);
        let mut facts = on_machine(self.desc, &Problem { batch: size.batch, ..alone }, machine)?;
        facts.insert(0, launches_of_array(self.desc, problem.batch));
        Ok(facts)
    }

    /// The explanation as JSON.
    pub fn value(&self) -> Result<Value, Failure> {
        let fitted = self.fitted()?;
        let text = |error: serde_json::Error| {
            Failure::refused(format!("the explanation cannot be written as JSON: {error}"))
        };
        let mut object = json!({
            "choices": serde_json::to_value(&self.resolved.choices).map_err(text)?,
            "facts": serde_json::to_value(fitted.explain()?).map_err(text)?,
            "layouts": serde_json::to_value(layouts(&fitted)?).map_err(text)?,
        });
        if let Some((problem, (name, machine))) = self.problem {
            let on: serde_json::Map<_, _> = self
                .on_machine(problem, &machine)?
                .into_iter()
                .map(|(what, how)| (what.to_owned(), how.into()))
                .collect();
            (object["for"], object["problem"]) = (name.into(), on.into());
        }
        Ok(object)
    }

    /// Prints the explanation as text.
    pub fn print(&self) -> Result<(), Failure> {
        let Self { resolved, problem, .. } = *self;
        let fitted = self.fitted()?;
        let explanation = fitted.explain()?;
        let chosen = |choice: &falchion::internals::nest::Choice| {
            vec![
                choice.flag.to_owned(),
                choice.value.clone(),
                match choice.from {
                    Origin::Size => "selected for this size".to_owned(),
                    from => format!("from {}", from.name()),
                },
            ]
        };
        let stated = |facts: Vec<(&str, String)>| {
            print::table(facts.into_iter().map(|(what, how)| vec![what.to_owned(), how]))
        };
        let on = problem
            .map(|(problem, gpu)| {
                Ok::<_, Failure>((problem, gpu.0, self.on_machine(problem, &gpu.1)?))
            })
            .transpose()?;
        print::line("chosen:");
        print::table(resolved.choices.iter().map(chosen));
        print::line("\nso:");
        stated(facts(&explanation));
        if let Some((problem, name, on)) = on {
            print::line(&format!("\n{} x {} x {} on {name}:", problem.m, problem.n, problem.k));
            stated(on);
        }
        print::line("\nlayouts:");
        print::table(layout_rows(&layouts(&fitted)?));
        print::line("\nschedule:");
        for line in explanation.schedule() {
            print::line(&format!(" {line}"));
        }
        Ok(())
    }

    /// Prints the explanation without computing the GEMM.
    pub fn print_alone(&self, json: bool) -> Result<(), Failure> {
        if json {
            let object =
                json!({ "description": description(self.desc)?, "explanation": self.value()? });
            print::line(&object.to_string());
            return Ok(());
        }
        self.print()
    }
}

/// The description as JSON, in the format of `--desc`.
pub fn description(desc: &GemmDesc) -> Result<Value, Failure> {
    let text = desc.to_json()?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::refused(format!("the description cannot be written as JSON: {error}"))
    })
}

/// Layouts as rows of a table: the name, the domain and the codomain, and the layout in the
/// notation of `falchion layout`.
pub fn layout_rows(layouts: &[StatedLayout]) -> impl Iterator<Item = Vec<String>> {
    let none = || "none: not affine up to one swizzle".to_owned();
    layouts.iter().map(move |stated| {
        vec![
            stated.what.clone(),
            stated.maps.to_owned(),
            stated.layout.clone().unwrap_or_else(none),
        ]
    })
}
