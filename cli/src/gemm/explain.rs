//! What was chosen, why, and what follows from it.

use crate::{failure::Failure, print};
use falchion::{desc::GemmDesc, internals::family::Resolved};
use falchion_lab::explain::{StatedLayout, facts, layouts};
use serde_json::{Value, json};

/// The explanation as JSON.
pub fn value(resolved: &Resolved, desc: &GemmDesc) -> Result<Value, Failure> {
    let text = |error: serde_json::Error| Failure::refused(format!("the explanation cannot be written as JSON: {error}"));
    Ok(json!({
        "choices": serde_json::to_value(&resolved.choices).map_err(text)?,
        "facts": serde_json::to_value(desc.explain()?).map_err(text)?,
        "layouts": serde_json::to_value(layouts(desc)?).map_err(text)?,
    }))
}

/// The description as JSON: what `--desc` reads.
pub fn description(desc: &GemmDesc) -> Result<Value, Failure> {
    let text = desc.to_json()?;
    serde_json::from_str(&text).map_err(|error| Failure::refused(format!("the description cannot be written as JSON: {error}")))
}

/// The explanation as text.
pub fn print(resolved: &Resolved, desc: &GemmDesc) -> Result<(), Failure> {
    let explanation = desc.explain()?;
    let chosen = |choice: &falchion::internals::family::Choice| {
        vec![choice.flag.to_owned(), choice.value.clone(), format!("from {}", choice.from.name())]
    };
    print::line("chosen:");
    print::table(resolved.choices.iter().map(chosen));
    print::line("\nso:");
    print::table(facts(&explanation).into_iter().map(|(what, how)| vec![what.to_owned(), how]));
    print::line("\nlayouts:");
    print::table(layout_rows(&layouts(desc)?));
    print::line("\nschedule:");
    for line in explanation.schedule() {
        print::line(&format!(" {line}"));
    }
    Ok(())
}

/// Maps as rows of a table: of what, from what to what, and the layout, which `falchion layout` reads.
pub fn layout_rows(layouts: &[StatedLayout]) -> impl Iterator<Item = Vec<String>> {
    let none = || "none: not affine up to one swizzle".to_owned();
    layouts
        .iter()
        .map(move |stated| vec![stated.what.clone(), stated.maps.to_owned(), stated.layout.clone().unwrap_or_else(none)])
}

/// An explanation without a product.
pub fn alone(resolved: &Resolved, desc: &GemmDesc, json: bool) -> Result<(), Failure> {
    if json {
        let object = json!({ "description": description(desc)?, "explanation": value(resolved, desc)? });
        print::line(&object.to_string());
    } else {
        print(resolved, desc)?;
    }
    Ok(())
}
