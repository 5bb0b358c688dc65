// Narrows, sorts and unfolds the rows of a report. Without it all of them are shown.
"use strict";
(() => {
  const page = 100;
  const $ = (id) => document.getElementById(id);
  const list = document.querySelector("ol.rows");
  const rows = list ? [...list.children] : [];
  const all = $("count").textContent;
  let shown = page;

  const themes = ["system", "light", "dark"];
  let theme = 0;
  $("theme").hidden = false;
  $("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    if (theme === 0) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = themes[theme];
    $("theme").textContent = `Theme: ${themes[theme]}`;
  });
  if (!list) return;

  const words = (row, name) => row.dataset[name].split("\n").filter(Boolean);
  const names = ["outcome", "gate", "who", "tool"];
  for (const name of names) {
    const found = new Set(rows.flatMap((row) => words(row, name)));
    for (const word of [...found].sort().slice(0, 500)) {
      const option = document.createElement("option");
      option.value = word;
      option.textContent = name === "outcome" ? word.replace("_", " ") : word;
      $(name).append(option);
    }
  }

  // What is searched is read once, when it is first needed.
  const texts = new Map();
  const text = (row) => {
    if (!texts.has(row)) texts.set(row, `${row.dataset.call} ${row.textContent}`.toLowerCase());
    return texts.get(row);
  };
  const keys = {
    time: (row) => row.dataset.time,
    page: (row) => row.querySelector(".what").textContent.replace(/^\S+ /, ""),
    who: (row) => row.querySelector(".who").textContent,
    outcome: (row) => row.dataset.outcome,
  };

  const change = () => {
    const [sought, from, to] = [$("search").value.trim().toLowerCase(), $("from").value, $("to").value];
    const chosen = names.map((name) => [name, $(name).value]).filter(([, value]) => value !== "");
    shown = page;
    let found = 0;
    for (const row of rows) {
      const day = row.dataset.time.slice(0, 10);
      const is = (from === "" || day >= from) && (to === "" || day <= to)
        && chosen.every(([name, value]) => words(row, name).includes(value))
        && (sought === "" || text(row).includes(sought));
      row.classList.toggle("omitted", !is);
      row.classList.toggle("later", is && found >= shown);
      if (is) found += 1;
    }
    const isAll = found === rows.length;
    $("count").textContent = isAll ? all : `${found} of ${rows.length} rows`;
    more();
  };
  const more = () => {
    const left = list.querySelectorAll(".later").length;
    $("more").parentElement.hidden = left === 0;
    $("more").textContent = `Show ${Math.min(page, left)} more of ${left}`;
  };
  const sort = () => {
    const [, back, name] = /^(-?)(.*)$/.exec($("sorted").value);
    const sorted = rows.map((row) => [keys[name](row), row]);
    sorted.sort(([a], [b]) => (a < b ? -1 : Number(a > b)) * (back ? -1 : 1));
    rows.splice(0, rows.length, ...sorted.map(([, row]) => row));
    list.append(...rows);
    change();
  };
  $("more").addEventListener("click", () => {
    [...list.querySelectorAll(".later")].slice(0, page).forEach((row) => row.classList.remove("later"));
    more();
  });
  let waiting = 0;
  $("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(change, 120);
  });
  for (const name of [...names, "from", "to"]) $(name).addEventListener("change", change);
  $("sorted").addEventListener("change", sort);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(sort));
  $("filters").hidden = false;
  change();
})();
