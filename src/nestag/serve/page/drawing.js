// The boxes that the server drew: their entities, which of them are shown, and their height.

const HIGHEST = 8; // as in the style sheet of drawings

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function described(entity) {
  const sure = entity.confidence.toFixed(2);
  return `${entity.type}: ${entity.text}, characters ${entity.start} to ${entity.end}, confidence ${sure}`;
}

// Give each box its entity, and hide its label from screen readers, which read its description.
export function named(drawing, entities) {
  for (const box of drawing.querySelectorAll(".e")) {
    box.entity = entities[Number(box.dataset.entity)];
    box.removeAttribute("title"); // the line below the text shows the same
    box.querySelector(":scope > b")?.setAttribute("aria-hidden", "true");
  }
  return drawing;
}

// Return the class of each type's colour.
export function coloursIn(drawing) {
  const boxes = [...drawing.querySelectorAll(".e")];
  return new Map(boxes.map((box) => [box.entity.type, box.className.match(/\bk\d\b/)[0]]));
}

// Show some of the entities. The text stays, and boxes around fewer boxes become lower.
export function showOnly(drawing, entities) {
  const wanted = new Set(entities);
  const heights = new Map();
  for (const box of [...drawing.querySelectorAll(".e")].reverse()) { // inner ones come before those around them
    const shown = wanted.has(box.entity);
    const height = heights.get(box) || 0;
    dress(box, shown);
    raise(box, "h", height);
    const outer = box.parentElement;
    heights.set(outer, Math.max(heights.get(outer) || 0, height + (shown ? 1 : 0)));
  }
  raise(drawing, "high-", heights.get(drawing) || 0);
}

function dress(box, shown) {
  box.classList.toggle("off", !shown);
  const attributes = { role: "group", "aria-roledescription": "entity", tabindex: "-1", "aria-label": described(box.entity) };
  for (const [name, value] of Object.entries(attributes)) {
    if (shown) box.setAttribute(name, value);
    else box.removeAttribute(name);
  }
}

function raise(box, name, height) {
  for (let h = 0; h <= HIGHEST; h++) box.classList.toggle(`${name}${h}`, h > 0 && h === Math.min(height, HIGHEST));
}

// Return the shown boxes in the order of the text.
export function shownIn(drawing) {
  return [...drawing.querySelectorAll(".e:not(.off)")];
}
