// What makes the studio easier to use; without it everything works by pages and forms.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  // Parts of every page that may change with any action.
  const SHELL = ["rail", "strip", "faults", "command"];

  // Replace regions of this page by those of another, and keep the focus where it was.
  const replace = (text, ids) => {
    const other = new DOMParser().parseFromString(text, "text/html");
    const held = document.activeElement;
    const place = held && { id: held.id, name: held.getAttribute("name"), at: held.selectionStart };
    const within = held && ids.find((id) => byId(id) && byId(id).contains(held));
    for (const id of ids) {
      const [now, next] = [byId(id), other.getElementById(id)];
      if (!now || !next || now.outerHTML === next.outerHTML) continue;
      const open = all("details[open] > summary", now).map((summary) => summary.textContent);
      const ticked = all("[data-keep]:checked", now).map((box) => box.id);
      now.replaceWith(document.adoptNode(next));
      for (const summary of all("details > summary", next)) {
        if (open.includes(summary.textContent)) summary.parentElement.open = true;
      }
      for (const box of all("[data-keep]", next)) box.checked = ticked.includes(box.id);
      prepare(next);
    }
    if (other.title) document.title = other.title;
    const faults = byId("faults");
    if (ids.includes("faults") && faults && faults.classList.contains("faults")) faults.focus();
    else if (within && !document.contains(held)) restore(place, byId(within));
  };
  const restore = (place, region) => {
    const named = place.name && region && all(`[name="${CSS.escape(place.name)}"]`, region);
    const next = (place.id && byId(place.id)) || (named && (named.find((one) => one.checked) || named[0])) || byId("question");
    if (!next) return;
    next.focus({ preventScroll: true });
    if (place.at != null && next.setSelectionRange && next.type === "text") next.setSelectionRange(place.at, place.at);
  };

  // Nothing can be asked any more: it is said once, and what was typed stays on the page.
  const lost = () => {
    const place = byId("faults");
    if (!place || place.dataset.lost) return;
    place.dataset.lost = "yes";
    place.className = "faults";
    place.setAttribute("role", "alert");
    place.textContent = document.body.dataset.lost;
    place.scrollIntoView({ block: "nearest" });
  };
  const found = () => {
    const place = byId("faults");
    if (place && place.dataset.lost) place.replaceWith(Object.assign(document.createElement("div"), { id: "faults" }));
  };
  const ask = async (url, options) => {
    const answer = await fetch(url, { credentials: "same-origin", ...options }).catch(() => null);
    if (!answer) lost();
    else if (answer.headers.get("x-studio") === "locked") location.reload();
    return answer;
  };
  // The page as it is now, for regions that something outside of this page has changed.
  let newest = 0;
  const refresh = async (ids) => {
    const mine = ++newest;
    const answer = await ask(location.href);
    if (!answer) return;
    const text = await answer.text();
    if (mine !== newest) return;
    if (answer.redirected && new URL(answer.url).pathname !== location.pathname) location.assign(answer.url);
    else replace(text, [...SHELL, ...ids]);
  };

  // Forms that name a region: sent without leaving the page. Of several in a row the last answer holds.
  const sent = new Map();
  const send = async (form, by) => {
    const region = form.dataset.region;
    const body = new URLSearchParams(new FormData(form, by || undefined));
    const turn = (sent.get(region) || 0) + 1;
    sent.set(region, turn);
    form.setAttribute("aria-busy", "true");
    const answer = await ask(form.action, { method: "POST", body });
    const text = answer && (await answer.text());
    form.removeAttribute("aria-busy");
    if (!answer) return;
    if (sent.get(region) !== turn) return;
    const at = new URL(answer.url);
    if (answer.ok && at.pathname !== location.pathname) {
      location.assign(at);
      return;
    }
    if (answer.ok && answer.redirected) history.replaceState(null, "", at);
    newest += 1;
    replace(text, [...SHELL, region]);
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.region || form.method !== "post") return;
    event.preventDefault();
    send(form, event.submitter);
  });
  // Fields that act at once: a choice when it is made, a slider when it rests.
  const resting = new Map();
  const act = (form) => (form.dataset.region ? send(form) : form.requestSubmit());
  document.addEventListener("input", (event) => {
    const field = event.target;
    const twin = field.dataset.twin && byId(field.dataset.twin);
    if (twin) twin.value = field.value;
    const form = field.form;
    if (!form || field.dataset.live === undefined) return;
    clearTimeout(resting.get(form));
    resting.set(form, setTimeout(() => act(form), Number(field.dataset.live) || 250));
  });
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (field.form && field.dataset.submit !== undefined) act(field.form);
  });

  // Lines that are dragged to a group: marked, and sent as the form beside them would be.
  document.addEventListener("dragstart", (event) => {
    const line = event.target.closest && event.target.closest("[data-drag]");
    if (line) line.querySelector("input").checked = true;
  });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      const group = event.target.closest && event.target.closest("[data-drop]");
      if (!group) return;
      event.preventDefault();
      group.classList.toggle("over", kind === "dragover");
      if (kind !== "drop") return;
      const form = group.closest("form");
      form.querySelector("[data-drop-to]").value = group.dataset.drop;
      form.requestSubmit();
    });
  }

  // Copy a command.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest && event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
    say("Copied");
  });

  // Pieces that take time come one after the other, those in view first.
  const queue = [];
  let loading = false;
  const load = async () => {
    if (loading) return;
    loading = true;
    while (queue.length) {
      const place = queue.shift();
      if (!document.contains(place)) continue;
      const answer = await ask(place.dataset.load);
      if (!answer) break;
      const text = await answer.text();
      if (answer.status === 204 || !document.contains(place)) continue;
      const made = new DOMParser().parseFromString(`<body>${text}`, "text/html").body;
      place.replaceChildren(...[...made.childNodes].map((node) => document.adoptNode(node)));
      place.removeAttribute("data-load");
      prepare(place);
    }
    loading = false;
  };

  // A grid is one tab stop; the arrow keys move within it: along all fields of a line, and to the same cell of another line.
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const FIELDS = "input:not([type=hidden]), select, button, a, summary";
  const cells = (grid) => all("tbody tr", grid).map((row) => all("td", row));
  const group = (radio) => all("input[type=radio]", radio.form).filter((one) => one.name === radio.name);
  const stops = (cell) => {
    // What is parsed by script holds the fields of a noscript too, which are never shown.
    const shown = all(FIELDS, cell).filter((one) => !one.closest("noscript"));
    const found = shown.filter((one) => one.type !== "radio" || one === (group(one).find((o) => o.checked) || group(one)[0]));
    return found.length ? found : [cell];
  };
  const rove = (grid, to) => {
    for (const field of all("[tabindex='0']", grid)) field.tabIndex = -1;
    to.tabIndex = 0;
  };
  const startGrid = (grid) => {
    for (const cell of all("td", grid)) {
      for (const field of all(FIELDS, cell)) field.tabIndex = -1;
      if (stops(cell)[0] === cell) cell.tabIndex = -1;
    }
    const first = grid.querySelector("td");
    if (first) stops(first)[0].tabIndex = 0;
  };
  document.addEventListener("focusin", (event) => {
    const grid = event.target.closest("[data-grid]");
    if (grid && event.target.matches(`td, ${FIELDS}`)) rove(grid, event.target);
  });
  document.addEventListener("keydown", (event) => {
    const grid = event.target.closest && event.target.closest("[data-grid]");
    const step = STEPS[event.key];
    if (!grid || !step || event.ctrlKey || event.altKey || event.metaKey) return;
    // Inside a field an arrow key has its own meaning; along a switch it leads on at both ends.
    if (event.target.matches("select, input[type=text], input:not([type]), textarea")) return;
    if (event.target.type === "radio" && step[0] === 0) {
      const own = group(event.target);
      if (own[own.indexOf(event.target) + step[1]]) return;
    }
    const rows = cells(grid);
    const row = rows.findIndex((line) => line.some((cell) => cell.contains(event.target)));
    if (row < 0) return;
    const place = rows[row].findIndex((cell) => cell.contains(event.target));
    const along = rows[row].flatMap(stops);
    const own = along.findIndex((one) => one === event.target || (event.target.type === "radio" && one.name === event.target.name));
    const below = rows[row + step[0]];
    const next = step[0] ? below && stops(below[Math.min(place, below.length - 1)])[0] : along[own + step[1]];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // What a screen reader hears, not more often than it can be listened to.
  let spoken = 0;
  const say = (text, often = true) => {
    const now = Date.now();
    if (!often && now - spoken < 5000) return;
    spoken = now;
    const status = byId("status");
    if (status && status.textContent !== text) status.textContent = text;
  };

  // What is at work, as the server tells it.
  const percent = (share) => `${Math.round(100 * share)} %`;
  const part = (box, name, text) => {
    const place = box.querySelector(`[data-part="${name}"]`);
    if (place && text && place.textContent !== text) place.textContent = text;
  };
  const OPEN = ["queued", "running", "cancelling"];
  const show = (things) => {
    for (const box of all("[data-job]")) {
      const thing = things.find((one) => one.id === box.dataset.job);
      if (!thing || !OPEN.includes(thing.state)) {
        delete box.dataset.job;
        refresh(["content"]).then(() => say(document.querySelector("#content .lead")?.textContent || ""));
        continue;
      }
      const bar = box.querySelector("progress");
      if (bar) bar.value = thing.share;
      part(box, "percent", percent(thing.share));
      part(box, "stage", thing.stage);
      part(box, "elapsed", thing.elapsed);
      const title = document.title.replace(/^[\d.< ]+% · /, "");
      document.title = `${percent(thing.share)} · ${title}`;
      say(`${percent(thing.share)}, ${thing.stage}`, false);
      const stage = `${thing.state} ${thing.at} ${thing.of}`;
      if (box.dataset.seen && box.dataset.seen !== stage) refresh(["content"]);
      box.dataset.seen = stage;
    }
  };
  const listen = () => {
    const events = new EventSource(document.body.dataset.events);
    events.addEventListener("message", (event) => show(JSON.parse(event.data)));
    events.addEventListener("locked", () => {
      events.close();
      location.reload();
    });
    // The browser tries again by itself; that nobody answers is said once it has tried for a while.
    let silent = 0;
    events.addEventListener("open", () => {
      clearTimeout(silent);
      silent = 0;
      found();
    });
    events.addEventListener("error", () => {
      silent ||= setTimeout(lost, 5000);
    });
    addEventListener("pagehide", () => events.close());
  };

  const prepare = (region) => {
    for (const button of all("[data-copy]", region)) button.hidden = false;
    for (const grid of all("[data-grid]", region)) startGrid(grid);
    for (const line of all("[data-drag]", region)) line.draggable = true;
    const places = all("[data-load]", region);
    if (region.dataset && region.dataset.load) places.push(region);
    queue.push(...places);
    if (queue.length) load();
  };
  prepare(document.body);
  if (document.body.dataset.events) listen();
})();
