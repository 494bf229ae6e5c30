// The page: finds and draws entities, filters them, shows details, and saves them.

import { NeedsToken, get, post, postForHtml, useToken } from "./api.js";
import { coloursIn, described, element, named, showOnly, shownIn } from "./drawing.js";
import { KINDS, download, written } from "./saving.js";
import { inTokens, tableOf, treeOf } from "./teaching.js";

const EXAMPLES = {
  "News: places inside people": "The governor of the Bank of Norway met Ilse Brandt, the mayor of Utrecht, in Oslo on Tuesday. Lincoln was president of the USA.",
  "Biology: proteins inside DNA": "The IL-2 gene promoter is activated by NF-kappa B in human T cells. Expression of the c-fos gene was low.",
  "Deep nesting: six levels": "The son of the head of the office of the mayor of the city of New York slept.",
  "Special characters: <, & and emoji": "Ann & Bob <ann@example.org> said \"2 < 3\" at Café Møller 😀.",
};
const at = (id) => document.getElementById(id);
const state = { text: "", entities: [], sentences: [], drawing: null, colours: new Map(), hidden: new Set() };
let request = new AbortController();
let pointer = "";
let lesson = 0; // the number of the last request for a tree

function shown() {
  const least = Number(at("threshold").value);
  return state.entities.filter((entity) => entity.confidence >= least && !state.hidden.has(entity.type));
}

async function find() {
  request.abort();
  request = new AbortController();
  const { signal } = request;
  useToken(at("token").value.trim());
  problem("");
  busy(true);
  try {
    const text = at("text").value;
    const answer = await post("/v1/entities", { text, tokens_too: true }, signal);
    const result = answer.results[0];
    const entities = result.entities.map(({ start, end, type, confidence }) => ({ start, end, type, confidence }));
    take(text, result, await postForHtml("/v1/drawing", { text, entities }, signal));
  } catch (error) {
    if (error.name !== "AbortError") problem(error);
  } finally {
    if (!signal.aborted) busy(false);
  }
}

function take(text, { entities, sentences }, drawing) {
  const found = entities.map((entity) => entity.type);
  Object.assign(state, { text, entities, sentences, drawing: named(drawing, entities) });
  state.colours = coloursIn(drawing);
  state.hidden = new Set([...state.hidden].filter((type) => found.includes(type)));
  at("result").hidden = false;
  at("drawn").replaceChildren(drawing);
  showLegend(found);
  showSentences();
  show();
}

function show() {
  const entities = shown();
  at("threshold-value").value = Number(at("threshold").value).toFixed(2);
  at("summary").textContent = `${entities.length} of ${state.entities.length} entities shown`;
  at("said").textContent = at("summary").textContent;
  showOnly(state.drawing, entities);
  shownIn(state.drawing)[0]?.setAttribute("tabindex", "0");
  at("rows").replaceChildren(...entities.map(row));
  detail(null);
  teach();
}

function row({ type, text, start, end, confidence }) {
  const cells = [type, text, start, end, confidence.toFixed(2)].map((cell) => element("td", { dir: "auto" }, String(cell)));
  return element("tr", {}, ...cells);
}

function showLegend(found) {
  const counts = new Map();
  for (const type of found) counts.set(type, (counts.get(type) || 0) + 1);
  const entries = [...counts].sort().map(([type, count]) => {
    const box = element("input", { type: "checkbox", value: type });
    box.checked = !state.hidden.has(type);
    return element("label", { class: `type ${state.colours.get(type)}` }, box, element("bdi", {}, type), ` ${count}`);
  });
  at("legend").replaceChildren(...(entries.length ? entries : ["none"]));
}

function showSentences() {
  const name = (sentence, i) => `${i + 1}: ${sentence.tokens.slice(0, 8).join(" ")}${sentence.tokens.length > 8 ? " …" : ""}`;
  const options = state.sentences.map((sentence, i) => element("option", { value: String(i) }, name(sentence, i)));
  at("sentence").replaceChildren(...options);
}

async function teach() {
  const sentence = state.sentences[Number(at("sentence").value)];
  if (!at("teaching").open || !sentence) return;
  const number = ++lesson;
  const first = sentence.offsets[0][0];
  const inside = shown().filter((entity) => entity.start >= first && entity.end <= sentence.offsets.at(-1)[1]);
  if (inside.some((a) => inside.some((b) => a.start < b.start && b.start < a.end && a.end < b.end))) {
    at("tree").replaceChildren("Some of these entities cross, so there is no tree. Hide a type or raise the minimum confidence.");
    at("labels").replaceChildren();
    return;
  }
  try {
    const answer = await post("/v1/labels", { tokens: sentence.tokens, entities: inTokens(sentence, inside) });
    if (number !== lesson) return;
    at("tree").replaceChildren(treeOf(answer.tree, state.colours));
    at("labels").replaceChildren(...tableOf(sentence.tokens, answer.labels));
  } catch (error) {
    problem(error);
  }
}

function detail(box) {
  const entity = box?.entity;
  for (const piece of at("drawn").querySelectorAll(".e")) piece.classList.toggle("active", piece.entity === entity);
  at("details").textContent = entity ? described(entity) : "Point at an entity, or select one with Tab and the arrow keys.";
  at("details").className = entity ? `strip ${state.colours.get(entity.type)}` : "strip";
}

function go(event) {
  const boxes = shownIn(state.drawing);
  const here = boxes.indexOf(document.activeElement);
  const next = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: boxes.length - 1 }[event.key];
  if (here < 0 || next === undefined) return;
  event.preventDefault();
  const box = boxes[Math.min(Math.max(next, 0), boxes.length - 1)];
  boxes[here].setAttribute("tabindex", "-1");
  box.setAttribute("tabindex", "0");
  box.focus();
}

function problem(error) {
  at("problem").textContent = error ? error.message : "";
  at("problem").hidden = !error;
  if (error instanceof NeedsToken) {
    at("access").hidden = false;
    at("token").focus();
  }
}

function busy(is) {
  at("find").setAttribute("aria-disabled", String(is)); // not disabled, which would lose the focus; a second request cancels the first
  at("find").textContent = is ? "Finding…" : "Find entities";
}

function content() {
  return written(at("form").value, state.text, shown(), state.sentences);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(content());
    at("saved").textContent = "Copied";
  } catch {
    at("saved").textContent = "The browser does not allow copying; download the file instead";
  }
}

function count() {
  at("count").textContent = `${Array.from(at("text").value).length} characters`;
}

async function introduce() {
  try {
    const model = await get("/v1/model");
    const names = model.types.length > 12 ? `${model.types.length} types` : model.types.join(", ");
    at("model").textContent = `${model.name}${names && `: ${names}`}`;
  } catch (error) {
    problem(error);
  }
}

function example(name) {
  const button = element("button", { type: "button" }, name);
  button.addEventListener("click", () => {
    at("text").value = EXAMPLES[name];
    count();
    find();
  });
  return button;
}

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  find();
});
at("text").addEventListener("input", count);
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) find();
});
at("token").addEventListener("change", () => {
  useToken(at("token").value.trim());
  problem("");
  introduce();
});
at("examples").append(...Object.keys(EXAMPLES).map(example));
at("threshold").addEventListener("input", show);
at("legend").addEventListener("change", ({ target }) => {
  if (target.checked) state.hidden.delete(target.value);
  else state.hidden.add(target.value);
  show();
});
at("drawn").addEventListener("mousemove", ({ target, screenX, screenY }) => {
  if (`${screenX} ${screenY}` === pointer) return; // the page scrolled under a resting pointer
  pointer = `${screenX} ${screenY}`;
  detail(target.closest(".e:not(.off)"));
});
at("drawn").addEventListener("click", ({ target }) => detail(target.closest(".e:not(.off)")));
at("drawn").addEventListener("focusin", ({ target }) => detail(target.closest(".e:not(.off)")));
at("drawn").addEventListener("keydown", go);
at("teaching").addEventListener("toggle", teach);
at("sentence").addEventListener("change", teach);
at("copy").addEventListener("click", copy);
at("download").addEventListener("click", () => {
  const form = at("form").value;
  download(content(), `nestag.${form}`, KINDS[form]);
  at("saved").textContent = `Saved as nestag.${form}`;
});
count();
introduce();
