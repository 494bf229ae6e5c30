// Entities as files: JSON, JSON Lines with one sentence per line, and brat's two files.

import { inTokens } from "./teaching.js";

export const KINDS = { json: "application/json", jsonl: "application/jsonl", ann: "text/plain", txt: "text/plain" };

export function written(form, text, entities, sentences) {
  const characters = Array.from(text);
  if (form === "json") return JSON.stringify({ text, entities }, null, 1) + "\n";
  if (form === "jsonl") return lines(characters, entities, sentences);
  if (form === "ann") return annotations(characters, entities);
  return text;
}

function lines(characters, entities, sentences) {
  const starts = sentences.map((sentence, i) => (i ? sentence.offsets[0][0] : 0));
  return sentences
    .map((sentence, i) => {
      const end = i + 1 < starts.length ? starts[i + 1] : characters.length;
      const piece = characters.slice(starts[i], end).join("");
      const origin = { document: "nestag", start: starts[i], text: piece, offsets: sentence.offsets };
      const found = inTokens(sentence, entities);
      return JSON.stringify({ tokens: sentence.tokens, entities: found, id: `nestag-${i + 1}`, origin }) + "\n";
    })
    .join("");
}

// brat does not allow white space in types, and writes an entity over several lines in parts.
function annotations(characters, entities) {
  return entities
    .map((entity, i) => {
      const parts = partsOf(characters, entity.start, entity.end);
      const offsets = parts.map(([start, end]) => `${start} ${end}`).join(";");
      const covered = parts.map(([start, end]) => characters.slice(start, end).join("")).join(" ");
      return `T${i + 1}\t${entity.type.replace(/\s/gu, "_")} ${offsets}\t${covered}\n`;
    })
    .join("");
}

function partsOf(characters, start, end) {
  const parts = [];
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && characters[at] !== "\n" && characters[at] !== "\r") continue;
    let [a, b] = [from, at];
    while (a < b && /\s/u.test(characters[a])) a++;
    while (b > a && /\s/u.test(characters[b - 1])) b--;
    if (a < b) parts.push([a, b]);
    from = at + 1;
  }
  return parts;
}

export function download(content, name, kind) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
