// Mistakes one at a time, chosen by corpus, encoding, decoding, split, kind and type. Without this the page shows them
// all as lists, one for each run.
(() => {
  "use strict";
  const form = document.querySelector(".choose");
  if (!form) return;
  const cases = [...document.querySelectorAll("details.case")];
  const keys = [...form.querySelectorAll("[data-key]")];
  const [kind, type] = ["kind", "type"].map((name) => form.querySelector(`[data-filter=${name}]`));
  const buttons = [...form.querySelectorAll("[data-step]")];
  const output = form.querySelector("output");
  let place = 0;

  const chosen = () => cases.find((one) => keys.every((select) => one.dataset[select.dataset.key] === select.value));

  // Whether one and the same mistake is of the kind and of the type asked for.
  const fits = (sentence) =>
    sentence.dataset.mistakes.split(" ").some((mistake) => {
      const [ofKind, ofType] = mistake.split(".");
      return (!kind.value || kind.value === ofKind) && (!type.value || type.value === ofType);
    });

  const offerTypes = (one) => {
    const before = type.selectedOptions[0].textContent;
    const names = one ? JSON.parse(one.dataset.types) : [];
    const options = names.map((name, number) => new Option(name, number, false, name === before && type.value !== ""));
    type.replaceChildren(new Option("any", ""), ...options);
  };

  const show = () => {
    const one = chosen();
    const fitting = one ? [...one.querySelectorAll(".sentence")].filter(fits) : [];
    place = Math.max(0, Math.min(place, fitting.length - 1));
    for (const other of cases) other.hidden = other !== one;
    if (one) {
      one.open = true;
      for (const sentence of one.querySelectorAll(".sentence")) sentence.hidden = sentence !== fitting[place];
    }
    buttons[0].disabled = place === 0;
    buttons[1].disabled = place >= fitting.length - 1;
    output.textContent = fitting.length ? `${place + 1} of ${fitting.length}` : one ? "no such mistake" : "no such run";
  };

  const turn = (step) => {
    place += step;
    show();
  };

  for (const select of keys) {
    select.addEventListener("change", () => {
      place = 0;
      offerTypes(chosen());
      show();
    });
  }
  for (const select of [kind, type]) {
    select.addEventListener("change", () => {
      place = 0;
      show();
    });
  }
  for (const button of buttons) button.addEventListener("click", () => turn(Number(button.dataset.step)));
  document.getElementById("mistakes").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target.closest("select") || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    turn(step);
  });
  form.addEventListener("submit", (event) => event.preventDefault());

  document.getElementById("mistakes").classList.add("alive");
  form.hidden = false;
  offerTypes(chosen());
  show();
})();
