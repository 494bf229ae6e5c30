// The API, shown from its OpenAPI document.

import { get } from "./api.js";
import { element } from "./drawing.js";

const at = (id) => document.getElementById(id);
let schemas;

function resolved(schema) {
  return schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema ?? {};
}

function typeOf(schema, plural = "") {
  const { type, items, anyOf, enum: values, const: value, additionalProperties } = resolved(schema);
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((one) => JSON.stringify(one)).join(" or ");
  if (anyOf) return anyOf.map((one) => typeOf(one, plural)).join(" or ");
  if (type === "array" && items) return `list${plural} of ${typeOf(items, "s")}`;
  if (additionalProperties) return `object${plural} of ${typeOf(additionalProperties, "s")}`;
  return (type === "array" ? "list" : type ?? "value") + plural;
}

// The object that a schema describes, itself or in lists of it.
function objectIn(schema) {
  const { properties, items, anyOf, additionalProperties } = resolved(schema);
  if (properties) return resolved(schema);
  const inner = [items, ...(anyOf ?? []), additionalProperties].filter((one) => typeof one === "object");
  return inner.map(objectIn).find(Boolean);
}

function fields(schema, isRequest) {
  const { properties, required = [] } = objectIn(schema) ?? {};
  const rows = Object.entries(properties ?? {}).map(([name, field]) => {
    const notes = [typeOf(field)];
    if (isRequest && required.includes(name)) notes.push("required");
    if (isRequest && field.default !== undefined) notes.push(`default ${JSON.stringify(field.default)}`);
    const row = element("li", {}, element("code", {}, name), ` ${notes.join(", ")}`);
    if (field.description) row.append(element("span", { class: "quiet" }, ` ${field.description}`));
    if (objectIn(field)) row.append(fields(field, isRequest));
    return row;
  });
  return element("ul", {}, ...rows);
}

// A request with an example for each field that must be there: all required ones, and one of the alternatives.
function example(path, method, body) {
  const url = `${location.origin}${path}`;
  if (!body) return `curl ${url}`;
  const names = [...(body.required ?? []), ...(body.oneOf?.[0].required ?? [])];
  const values = Object.fromEntries(names.map((name) => [name, body.properties[name].examples[0]]));
  return `curl ${url} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(values)}'`;
}

function section(title, ...content) {
  return [element("h3", {}, title), ...content];
}

function route(path, method, operation) {
  const body = operation.requestBody && resolved(operation.requestBody.content["application/json"].schema);
  const card = element("section", { class: "card" });
  card.append(element("h2", {}, element("code", {}, `${method.toUpperCase()} ${path}`)));
  card.append(element("p", {}, `${operation.summary}. ${operation.description ?? ""}`));
  card.append(element("pre", { class: "scroll", tabindex: "0" }, example(path, method, body)));
  if (body) {
    const about = body.description ? element("p", { class: "quiet" }, body.description) : "";
    card.append(...section("Request", about, fields(body, true)));
  }
  const answers = Object.entries(operation.responses).sort();
  const json = answers[0][1].content?.["application/json"];
  const kinds = Object.keys(answers[0][1].content ?? {}).filter((kind) => kind !== "application/json");
  card.append(...section("Answer", json?.schema ? fields(json.schema, false) : element("p", {}, kinds.join(", "))));
  const refusals = answers.slice(1).map(([status, { description }]) => element("li", {}, `${status} ${description}`));
  card.append(element("details", {}, element("summary", {}, "Errors"), element("ul", {}, ...refusals)));
  return card;
}

try {
  const { info, paths, components } = await get("/openapi.json");
  schemas = components.schemas;
  at("about").textContent = `${info.description} Version ${info.version}.`;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) at("routes").append(route(path, method, operation));
  }
} catch (error) {
  at("problem").textContent = error.message;
  at("problem").hidden = false;
}
