//! An operator's own tools in the registry: recipes, which call one of ours, and queries.

use std::borrow::Cow;
use std::sync::Arc;

use garde::Validate;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::any_tool::{AnyTool, Beside};
use super::confirm_args::CONFIRM;
use super::faults::ArgumentFaults;
use super::intern::lasting;
use super::registry::{ArgumentCheck, OfCustom, Registry, TOOLS, ToolDefinition, ToolFn};
use super::{Arguments, ToolContext, ToolKind, ToolSelection, detail, input, propose, schema};
use crate::audit::ProposalId;
use crate::custom::{Customs, Query, Recipe, Schema, ToolFileFault, is_custom_name};
use crate::error::{Code, Failure, Result};
use crate::gates::Asked;
use crate::nearest::{did_you_mean, nearest};

/// The most bytes of a query's answer, as text and as structured content together.
const QUERY_BYTES: usize = 256 * 1024;
/// How to confirm a call of a recipe.
const ALONE: &str = "To write what was previewed, give confirm alone; for a changed call, give all arguments without confirm and look at its preview.";
/// The largest definition, in bytes: all of them are in every client's context.
const MOST_DEFINITION: usize = 4_000;

/// Arguments that a schema has checked.
#[derive(Debug, Deserialize, Validate)]
#[serde(transparent)]
struct CustomToolArguments(#[garde(skip)] Map<String, Value>);

/// Adds an operator's own tools; queries only if the wiki's schema is known.
///
/// # Errors
/// What is wrong, by file.
pub fn add_customs(
    registry: &mut Registry,
    surface: &ToolSelection,
    customs: &Customs,
    schema: Option<&Schema>,
) -> Result<(), Vec<ToolFileFault>> {
    let mut faults = Vec::new();
    for recipe in &customs.recipes {
        if let Err(text) = add_recipe(registry, surface, recipe) {
            faults.push(ToolFileFault::new(&recipe.file, text));
        }
    }
    match schema.map(|schema| customs.queries(schema)) {
        None => {}
        Some(Err(found)) => faults.extend(found),
        Some(Ok(queries)) => {
            for query in queries {
                let file = query.file.clone();
                if let Err(text) = add_query(registry, surface, query) {
                    faults.push(ToolFileFault::new(&file, text));
                }
            }
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Checks a definition, and adds the tool if the surface offers it.
fn add(
    registry: &mut Registry,
    surface: &ToolSelection,
    definition: ToolDefinition,
    check: ArgumentCheck,
    call: ToolFn,
) -> Result<(), String> {
    let size = json!({ "name": definition.name, "title": definition.title,
        "description": definition.description, "inputSchema": definition.input,
        "outputSchema": definition.output });
    let size = size.to_string().len();
    if size > MOST_DEFINITION {
        return Err(format!(
            "its definition takes {size} bytes of every client's context, and may take {MOST_DEFINITION}; make it shorter"
        ));
    }
    if !surface.1.offers(definition.name) {
        return Ok(());
    }
    let added = registry.push(definition, check, call);
    added.map_err(|error| error.to_string())
}

fn lasting_name(name: &str) -> Result<&'static str, String> {
    lasting(name).ok_or_else(|| "no name is left for it; restart the server".to_owned())
}

fn add_recipe(
    registry: &mut Registry,
    surface: &ToolSelection,
    recipe: &Recipe,
) -> Result<(), String> {
    let tool = called(recipe)?;
    let writes = tool.kind.writes();
    if writes && surface.1.only_reading || !surface.1.offers(&recipe.name) {
        return Ok(());
    }
    let is_on = surface.0.iter().any(|known| known.name == tool.name);
    // A recipe that is chosen by name brings its tool along, unless that is left out by name.
    let is_brought = surface.1.only.is_some() && !surface.1.without.contains(&tool.name);
    if !is_on && !is_brought {
        return Err(format!(
            "calls {}, which is off; see WIKI_TOOLSETS, WIKI_TOOLS and WIKI_EXCLUDE_TOOLS",
            tool.name
        ));
    }
    let own = registry.of_one(tool).map_err(|error| error.to_string())?;
    let base = own.find(tool.name).ok_or("calls no tool")?;
    check_values(recipe, &own, base)?;
    let name = lasting_name(&recipe.name)?;
    let on_record = lasting_name(&format!("{name}/{}", tool.name))?;
    let mut input = recipe.schema(writes);
    let is_free = |name: &str| {
        schema::has_member(&base.input, name) && !recipe.value_names().any(|own| own == name)
    };
    let beside = Beside {
        detail: is_free(detail::DETAIL) && detail::add_to(&mut input),
        propose: is_free(propose::PROPOSE) && propose::add_to(&mut input),
    };
    let definition = ToolDefinition {
        name,
        title: recipe.title.clone(),
        description: Cow::Owned(recipe.description.clone()),
        kind: base.kind,
        most_bytes: base.most_bytes,
        shows_image: base.shows_image,
        input: input.clone(),
        output: base.output.clone(),
        alone: None,
        custom: Some(OfCustom {
            file: recipe.file.clone(),
            calls: Some(tool.name),
            is_for_open_reads: false,
        }),
    };
    let (recipe, own, input) = (Arc::new(recipe.clone()), Arc::new(own), Arc::new(input));
    let (of_check, input_of_check) = (Arc::clone(&recipe), Arc::clone(&input));
    let check: ArgumentCheck = Box::new(move |mut arguments| {
        beside.drop_from(&mut arguments);
        expanded(&of_check, &input_of_check, arguments).map(drop)
    });
    let calls = tool.name;
    let call: ToolFn = Box::new(move |mut context, mut arguments| {
        let (recipe, own, input) = (Arc::clone(&recipe), Arc::clone(&own), Arc::clone(&input));
        let caller = &mut context.caller;
        beside.take(&mut arguments, &mut caller.extent, &mut caller.proposes);
        Box::pin(async move {
            if recipe.names_places() {
                context.wiki = Arc::new(context.wiki.by_path());
            }
            context.caller.tool = on_record;
            // What the caller said counts, not what a recipe makes of it, which may name the day.
            let asked = Asked::new(on_record, arguments.members.clone());
            context.caller.asked = Some(asked);
            let token = arguments.members.get(CONFIRM).and_then(Value::as_str);
            let token = token.filter(|_| writes).map(str::to_owned);
            let alone = token.as_deref().filter(|_| arguments.members.len() == 1);
            let call = match alone {
                Some(token) => previewed(&recipe, calls, &context, token).await,
                None => Ok(None),
            };
            let call = call.and_then(|previewed| {
                previewed.map_or_else(|| expanded(&recipe, &input, arguments), Ok)
            });
            match call {
                Ok(call) => match own.call(calls, context, call) {
                    Some(answer) => answer.await.map_err(of_recipe),
                    None => Err(Failure::new(Code::InternalError, "The tool is not there.")),
                },
                // Failed write calls are recorded too.
                Err(failure) if writes => {
                    let failure = match token {
                        Some(_) if failure.code == Code::InvalidInput => failure.hint(ALONE),
                        _ => failure,
                    };
                    let desk = &context.desk;
                    let refused = desk.refuse_input(&context.caller, token.as_deref(), failure);
                    Err(refused.await)
                }
                Err(failure) => Err(failure),
            }
        })
    });
    add(registry, surface, definition, check, call)
}

/// The tool of ours that a recipe calls.
fn called(recipe: &Recipe) -> Result<AnyTool, String> {
    let name = &recipe.tool;
    if *name == recipe.name {
        return Err(format!(
            "calls itself ({name}); a recipe calls one of our own tools"
        ));
    }
    if is_custom_name(name) {
        return Err(format!(
            "calls {name}, a custom tool; a recipe calls one of our own tools"
        ));
    }
    let found = TOOLS.iter().find(|tool| tool.name == name);
    found.copied().ok_or_else(|| {
        let near = nearest(name, TOOLS.iter().map(|tool| tool.name), 0.8);
        format!("calls {name:?}, which is no tool{}", did_you_mean(near))
    })
}

/// Tries a recipe: what it says whatever the caller says must be good arguments.
fn check_values(recipe: &Recipe, own: &Registry, base: &ToolDefinition) -> Result<(), String> {
    let tool = base.name;
    let known = base.input.get("properties").and_then(Value::as_object);
    let known: Vec<&String> = known.into_iter().flat_map(Map::keys).collect();
    let unknown = recipe.value_names().filter_map(|name| {
        if known.iter().any(|known| *known == name) {
            return None;
        }
        let near = did_you_mean(nearest(name, &known, 0.7));
        Some(format!("values.{name} is no argument of {tool}{near}"))
    });
    let unknown: Vec<String> = unknown.collect();
    if !unknown.is_empty() {
        return Err(unknown.join("; "));
    }
    let today = OffsetDateTime::now_utc().date();
    let sample = recipe.expand(recipe.sample(), today);
    let sample = sample.map_err(|_| "cannot be tried with its own bounds".to_owned())?;
    let Some(Err(failure)) = own.check(tool, sample) else {
        return Ok(());
    };
    let fields = failure.details.get("fields").and_then(Value::as_array);
    let faults = fields.into_iter().flatten().filter_map(|fault| {
        let path = fault.get("path").and_then(Value::as_str)?;
        let name = path.split(['.', '[']).next().unwrap_or(path);
        // What a caller says is checked when it is said.
        if recipe.is_templated(name) {
            return None;
        }
        let message = fault.get("message").and_then(Value::as_str);
        Some(match message {
            Some(message) => format!("values.{path} {message}"),
            None => failure.message.trim_end_matches('.').to_owned(),
        })
    });
    let faults: Vec<String> = faults.collect();
    match (fields, faults.as_slice()) {
        (None, _) => Err(format!("does not fit {tool}: {}", failure.message)),
        (Some(_), []) => Ok(()),
        (Some(_), faults) => Err(format!("does not fit {tool}: {}", faults.join("; "))),
    }
}

/// The call that a recipe's caller means with `confirm` alone: the previewed one, or the question what
/// became of a set that was left to people. `None` if it means neither.
async fn previewed(
    recipe: &Recipe,
    calls: &str,
    context: &ToolContext,
    token: &str,
) -> Result<Option<Map<String, Value>>> {
    let (desk, caller) = (&context.desk, &context.caller);
    let mut call = Map::new();
    if token.parse::<ProposalId>().is_err() {
        Box::pin(desk.fetch_preview(caller, token)).await?;
        let shown = desk.asked(caller, token)?;
        let is_own = |it: &Asked| it.tool == calls && recipe.could_make(&it.arguments);
        let Some(shown) = shown.filter(is_own) else {
            return Ok(None);
        };
        call.clone_from(&shown.arguments);
    }
    call.insert(CONFIRM.to_owned(), token.into());
    Ok(Some(call))
}

/// A failure of the tool that a recipe calls, for the recipe's caller, who does not know the arguments
/// of that tool.
fn of_recipe(mut failure: Failure) -> Failure {
    let is_of_tool = !failure.details.contains_key("tool");
    if failure.code == Code::ConfirmMismatch
        && is_of_tool
        && failure.details.shift_remove("differing").is_some()
    {
        return failure.hint(ALONE);
    }
    failure
}

/// The call that a recipe becomes.
fn expanded(
    recipe: &Recipe,
    schema: &Map<String, Value>,
    arguments: Arguments,
) -> Result<Map<String, Value>> {
    let CustomToolArguments(given) = input::parse(schema, &[], arguments)?;
    let expanded = recipe.expand(given, OffsetDateTime::now_utc().date());
    expanded.map_err(|found| {
        let mut faults = ArgumentFaults::default();
        for (name, fault) in found {
            faults.add(&name, || fault);
        }
        faults.into_failure()
    })
}

fn add_query(registry: &mut Registry, surface: &ToolSelection, query: Query) -> Result<(), String> {
    let definition = ToolDefinition {
        name: lasting_name(&query.name)?,
        title: query.title.clone(),
        description: Cow::Owned(query.description.clone()),
        kind: ToolKind::Read,
        most_bytes: QUERY_BYTES,
        shows_image: false,
        input: query.input.clone(),
        output: schema::of_answer("What the wiki's API answered, in `data`."),
        alone: None,
        custom: Some(OfCustom {
            file: query.file.clone(),
            calls: None,
            is_for_open_reads: query.touches_pages,
        }),
    };
    let query = Arc::new(query);
    let of_check = Arc::clone(&query);
    let check: ArgumentCheck = Box::new(move |arguments| {
        input::parse::<CustomToolArguments>(&of_check.input, &[], arguments).map(drop)
    });
    let call: ToolFn = Box::new(move |context, arguments| {
        let query = Arc::clone(&query);
        Box::pin(async move {
            let CustomToolArguments(variables) = input::parse(&query.input, &[], arguments)?;
            let data = context.wiki.ask(&query, &variables).await?;
            Ok(json!({ "data": data }))
        })
    });
    add(registry, surface, definition, check, call)
}
