// A sentence as a tree and as labels.

import { element } from "./drawing.js";

// Return the entities in a sentence, in tokens.
export function inTokens(sentence, entities) {
  const starts = new Map(sentence.offsets.map(([start], i) => [start, i]));
  const ends = new Map(sentence.offsets.map(([, end], i) => [end, i + 1]));
  return entities
    .filter((entity) => starts.has(entity.start) && ends.has(entity.end))
    .map(({ start, end, type }) => ({ start: starts.get(start), end: ends.get(end), type }));
}

export function treeOf(nodes, colours) {
  const top = element("ul", {});
  const lists = [top];
  for (const node of nodes) {
    lists.length = node.depth + 1;
    const item = element("li", {});
    if (node.token === null) {
      const colour = colours.get(node.name.split("+").at(-1));
      item.append(element("b", colour === undefined ? {} : { class: colour }, node.name));
      const list = element("ul", {});
      item.append(list);
      lists.push(list);
    } else {
      item.className = "word";
      item.append(node.name);
    }
    lists[node.depth].append(item);
  }
  return top;
}

export function tableOf(tokens, labels) {
  const names = Object.keys(labels);
  const head = element("tr", {}, ...["word", ...names].map((name) => element("th", { scope: "col" }, name)));
  const rows = tokens.map((token, i) => {
    const cells = names.map((name) => element("td", {}, `${labels[name][i].n} ${labels[name][i].c} ${labels[name][i].u}`));
    return element("tr", {}, element("th", { scope: "row" }, token), ...cells);
  });
  return [element("thead", {}, head), element("tbody", {}, ...rows)];
}
