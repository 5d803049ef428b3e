// What makes a page easier to read; without it everything is still there.
"use strict";
(() => {
  const make = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const words = (text) => text.replace(/\s+/g, " ").trim();

  // Marks say their numbers at once: under a pointer, at a touch, or by arrow keys while their drawing has the focus.
  const tip = make("div", "", { class: "tip", role: "status", hidden: "" });
  document.body.append(tip);
  let pointed = null;
  const hide = () => {
    tip.hidden = true;
    if (pointed) pointed.classList.remove("pointed");
    pointed = null;
  };
  const tell = (mark, x, y, outlined) => {
    if (pointed && pointed !== mark) pointed.classList.remove("pointed");
    pointed = mark;
    mark.classList.toggle("pointed", outlined);
    if (tip.textContent !== mark.dataset.tip) tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const above = y - box.height - 12;
    tip.style.left = `${Math.max(8, Math.min(x - box.width / 2, document.documentElement.clientWidth - box.width - 8))}px`;
    tip.style.top = `${above > 8 ? above : y + 18}px`;
  };
  for (const title of all("svg title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  const marked = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  const follow = (event) => {
    const mark = marked(event);
    if (mark) tell(mark, event.clientX, event.clientY, false);
    else if (pointed) hide();
  };
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerdown", follow);
  document.addEventListener("scroll", hide, { passive: true });
  const middle = (mark) => {
    const box = mark.getBoundingClientRect();
    return [box.left + box.width / 2, box.top];
  };
  document.addEventListener("focusin", (event) => {
    const mark = marked(event);
    if (mark) tell(mark, ...middle(mark), true);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const drawing = event.target;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!(drawing instanceof SVGSVGElement) || !step) return;
    const marks = all("[data-tip]", drawing);
    if (!marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(pointed);
    const next = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length];
    next.scrollIntoView({ block: "nearest", behavior: "instant" });
    requestAnimationFrame(() => tell(next, ...middle(next), true));
  });
  for (const drawing of all("svg")) {
    const marks = all("[data-tip]", drawing);
    // A drawing whose marks can be focused by themselves needs no focus of its own.
    if (marks.length && !marks.some((mark) => mark.hasAttribute("tabindex"))) drawing.setAttribute("tabindex", "0");
  }

  // Numbers as they are written here: 1,234, −0.5, 12 %, 2.3 × 10⁻⁵, 10⁻⁷.
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const lowered = (text) => text.replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, (c) => RAISED.indexOf(c)).replace(/⁻/g, "-");
  const numeric = (text) => {
    const plain = words(text).replace(/−/g, "-").replace(/,(?=\d{3})/g, "");
    const power = plain.match(/^(?:(-?[\d.]+) × )?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/);
    if (power) return Number(power[1] || 1) * 10 ** Number(lowered(power[2]));
    const found = plain.match(/^[≤<]?\s*([+-]?\d+(?:\.\d+)?)/);
    return found ? Number(found[1]) : NaN;
  };
  const key = (cell) => {
    if (!cell) return { value: NaN, text: "" };
    const given = cell.dataset.sort;
    return { value: given === undefined ? numeric(cell.textContent) : given === "" ? NaN : Number(given), text: words(cell.textContent) };
  };
  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
    const numbers = head.classList.contains("num");
    rows.sort(([a], [b]) => {
      // What has no number stands last, whichever way.
      if (numbers && (isNaN(a.value) || isNaN(b.value))) return isNaN(a.value) - isNaN(b.value);
      const order = numbers ? a.value - b.value : a.text.localeCompare(b.text, "en", { numeric: true });
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, column) => {
      const button = make("button", "", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, column, head));
    });
  }

  // Every table as a file. A text that a spreadsheet would run as a formula gets an apostrophe in front.
  const running = document.querySelector(".running");
  const prefix = running ? `${running.textContent.split(":")[0]}-` : "";
  const shown = (cell) => {
    const parts = cell.children.length ? [...cell.childNodes].map((node) => words(node.textContent)).filter(Boolean) : [words(cell.textContent)];
    return parts.join("; ").replace(/−/g, "-");
  };
  const field = (text) => {
    const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.,]+( %)?$/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  const save = (table, label) => {
    const lines = [...table.rows].map((row) => [...row.cells].map((cell) => field(shown(cell))).join(","));
    const file = new Blob([`\ufeff${lines.join("\r\n")}\r\n`], { type: "text/csv;charset=utf-8" });
    const link = make("a", "", { href: URL.createObjectURL(file) });
    link.download = `${prefix}${label.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "table"}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  for (const table of all("table")) {
    const frame = table.closest(".scroll") || table;
    const label = frame.getAttribute("aria-label") || "table";
    const tools = make("div", "", { class: "tools" });
    const button = make("button", "CSV", { type: "button", "aria-label": `Save the table ${label} as CSV` });
    button.addEventListener("click", () => save(table, label));
    if (table.tBodies[0] && table.tBodies[0].rows.length > 10) tools.append(...filter(table));
    tools.append(button);
    frame.after(tools);
  }

  // A long table shows only the rows that hold all words of a search.
  function filter(table) {
    const label = make("label", "Show only rows with ");
    const box = make("input", "", { type: "search" });
    const count = make("span", "", { role: "status" });
    box.addEventListener("input", () => {
      const wanted = words(box.value).toLowerCase().split(" ").filter(Boolean);
      let left = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
        left += !row.hidden;
      }
      count.textContent = wanted.length ? `${left} of ${table.tBodies[0].rows.length} rows` : "";
    });
    label.append(box);
    return [label, count];
  }

  // Rows that were written without them get their heads too, for the cards of a small screen.
  for (const table of all("table:not(.cards)")) {
    const heads = all("thead th", table).map((head) => words(head.textContent));
    if (heads.length < 3) continue;
    for (const row of table.tBodies[0].rows) [...row.cells].slice(1).forEach((cell, at) => cell.setAttribute("data-label", heads[at + 1]));
    table.classList.add("cards");
  }

  // What is folded is opened one by one, by a link that leads into it, or all at once; paper shows what is open.
  const folds = all("details");
  const into = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (const one of folds) if (one.contains(target) || one.parentElement === target) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", into);
  for (const link of all('a[href^="#"]')) link.addEventListener("click", () => setTimeout(into));
  into();
  const unfold = make("button", "", { type: "button" });
  const unfolded = (open) => {
    for (const one of folds) one.open = open;
    unfold.textContent = open ? "fold everything" : "open everything";
  };
  unfold.addEventListener("click", () => unfolded(unfold.textContent.startsWith("open")));
  if (location.search === "?all" || location.hash === "#all") unfolded(true);
  else unfold.textContent = "open everything";

  // Light, dark, or as the system says; forgotten when the page is closed.
  const contents = document.querySelector(".contents");
  if (contents) {
    const themes = make("div", "", { class: "tools", role: "group", "aria-label": "Colours" });
    for (const name of ["auto", "light", "dark"]) {
      const button = make("button", name, { type: "button", "aria-pressed": String(name === "auto") });
      button.addEventListener("click", () => {
        if (name === "auto") delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = name;
        for (const other of themes.children) other.setAttribute("aria-pressed", String(other === button));
      });
      themes.append(button);
    }
    if (folds.length) {
      const folding = make("div", "", { class: "tools" });
      folding.append(unfold);
      contents.append(folding);
    }
    contents.append(themes);
  }

  // The section in view is marked in the contents.
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
      const first = [...links.keys()].find((id) => seen.has(id));
      if (!first) return;
      for (const [id, link] of links) id === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    },
    { rootMargin: "-15% 0px -60% 0px" },
  );
  for (const section of all("main > section")) watcher.observe(section);
})();
