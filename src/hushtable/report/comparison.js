// Lets the reader ask for something else: dims what does not answer, and names the best of what does.
(() => {
  "use strict";
  const panel = document.querySelector(".controls");
  const rows = [...document.querySelectorAll("tr[data-release]")];
  if (!panel || !rows.length) return;
  const ask = (name) => panel.querySelector(`[data-ask="${name}"]`);
  const answer = panel.querySelector(".answer");
  const start = answer.textContent;
  const sign = panel.dataset.better === "lower" ? -1 : 1;

  // The limit a slider stands for; its last stop is none.
  const limit = (name) => {
    const slider = ask(name);
    if (!slider) return Infinity;
    const at = Number(slider.value);
    const words = slider.dataset.words.split("|")[at];
    slider.setAttribute("aria-valuetext", words);
    panel.querySelector(`[data-shows="${name}"]`).textContent = words;
    return at === Number(slider.max) ? Infinity : Number(slider.dataset.stops.split("|")[at]);
  };

  const unmark = () => {
    for (const mark of document.querySelectorAll(".asked-best")) mark.classList.remove("asked-best");
  };

  const update = () => {
    const risk = limit("risk"), epsilon = limit("epsilon");
    const least = Number(ask("assurance").value), fits = ask("fits").checked;
    const kept = rows.filter((row) => {
      const given = row.dataset;
      // Not knowing a risk is not passing.
      const known = "risk" in given ? Number(given.risk) : Infinity;
      return known <= risk && !(Number(given.epsilon) > epsilon) && Number(given.strength) >= least && (!fits || given.fits === "yes");
    });
    const numbers = new Set(kept.map((row) => row.dataset.release));
    for (const mark of document.querySelectorAll("[data-release]")) {
      mark.classList.toggle("dimmed", !numbers.has(mark.dataset.release));
    }
    const scored = kept.filter((row) => "score" in row.dataset);
    const best = scored.reduce((a, b) => (a && sign * Number(a.dataset.score) >= sign * Number(b.dataset.score) ? a : b), null);
    answer.textContent = best
      ? `${kept.length} of ${rows.length} releases answer. The best score among them: ${best.dataset.release} ${best.dataset.name}, ` +
        `${panel.dataset.axis} ${best.dataset.shown} (${best.dataset.assurance}). The choice above also weighs noise and evidence.`
      : `None of ${rows.length} releases answers${kept.length ? " with a score" : ""}.`;
    unmark();
    if (best) for (const mark of document.querySelectorAll(`[data-release="${best.dataset.release}"]`)) mark.classList.add("asked-best");
  };

  const clear = () => {
    for (const slider of panel.querySelectorAll("input[type=range]")) slider.value = slider.max;
    ask("assurance").value = "0";
    ask("fits").checked = false;
    update();
    unmark();
    answer.textContent = start;
  };

  panel.hidden = false;
  panel.addEventListener("input", update);
  ask("reset").addEventListener("click", clear);
  // A browser may remember where the controls stood.
  clear();
})();
