// Nested entities as boxes in boxes. Offsets count code points, so texts are arrays of them. Nothing is parsed as HTML.

const COLOURS = 10;
const HIGHEST = 8;

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A number for each type: the same for the same name wherever it can be, as in the drawings of notebooks.
export function coloursOf(types) {
  const numbers = new Map();
  for (const type of [...new Set(types)].sort()) {
    const bytes = new TextEncoder().encode(type);
    const wanted = bytes.reduce((sum, byte) => sum + byte, 0) % COLOURS;
    const used = new Set(numbers.values());
    let colour = wanted;
    for (let step = 0; step < COLOURS && used.has(colour); step++) colour = (wanted + step + 1) % COLOURS;
    numbers.set(type, used.has(colour) ? wanted : colour);
  }
  return numbers;
}

// The entities, outermost first, as a forest; the order among those over the same characters stays.
export function forest(entities) {
  const root = { entity: null, children: [] };
  const open = [root];
  const ordered = entities.map((entity, i) => [entity, i]);
  ordered.sort(([a, i], [b, j]) => a.start - b.start || b.end - a.end || i - j);
  for (const [entity] of ordered) {
    while (open.length > 1 && open.at(-1).entity.end <= entity.start) open.pop();
    const node = { entity, children: [] };
    open.at(-1).children.push(node);
    open.push(node);
  }
  return root;
}

export function draw(characters, entities, colours) {
  const { nodes, height } = filled(characters, 0, characters.length, forest(entities).children, colours);
  const high = Math.min(height, HIGHEST);
  return element("p", { class: `text high-${high}`, dir: "auto" }, ...nodes);
}

function filled(characters, start, end, children, colours) {
  const nodes = [];
  let at = start;
  let height = 0;
  for (const child of children) {
    nodes.push(characters.slice(at, child.entity.start).join(""));
    const inner = filled(characters, child.entity.start, child.entity.end, child.children, colours);
    nodes.push(box(child.entity, inner, colours));
    height = Math.max(height, inner.height + 1);
    at = child.entity.end;
  }
  nodes.push(characters.slice(at, end).join(""));
  return { nodes, height };
}

function box(entity, inner, colours) {
  const high = inner.height ? ` h${Math.min(inner.height, HIGHEST)}` : "";
  const name = `e k${colours.get(entity.type)}${high}`;
  const label = element("b", { "aria-hidden": "true", ...(entity.type.length > 20 && { class: "long" }) }, " ");
  label.append(element("bdi", {}, entity.type));
  const made = element("span", { class: name, role: "group", tabindex: "-1", "aria-label": described(entity) });
  made.append(...inner.nodes, label);
  made.entity = entity;
  return made;
}

export function described(entity) {
  const sure = entity.confidence.toFixed(2);
  return `${entity.type}: ${entity.text}, characters ${entity.start} to ${entity.end}, confidence ${sure}`;
}
