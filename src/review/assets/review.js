// Live news and shortcuts. Everything else works without this file.
"use strict";

const every = 3000;

// What has the focus has it at once, and not only with the next frame.
document.querySelector("[autofocus]")?.focus();

/** An address of ours at the site that this page is about: other tabs may look at another. */
function atSite(path, members = {}) {
  const asked = new URLSearchParams(members);
  const site = new URLSearchParams(location.search).get("site");
  if (site) asked.set("site", site);
  return `${path}?${asked}`;
}

/** The form that decides on this set. */
const decideForm = document.getElementById("decide");
/** The place where this tab keeps what its reader typed and ticked. */
const typedKey = `typed ${location.pathname}`;
const typedFields = () => [...document.querySelectorAll('input[name="reason"], input[name="leave_out"]')];

/** Shows that its reader must sign in again; what was typed and ticked is there once that is done. */
function signInAgain() {
  const typed = typedFields().map(({ name, value, checked }) => ({ name, value, checked }));
  if (decideForm) sessionStorage.setItem(typedKey, JSON.stringify(typed));
  location.reload();
}

/** Puts back what was typed and ticked before its reader signed in again. */
function restoreTyped() {
  const kept = decideForm && sessionStorage.getItem(typedKey);
  if (!kept) return;
  sessionStorage.removeItem(typedKey);
  for (const { name, value, checked } of JSON.parse(kept)) {
    for (const field of typedFields().filter((field) => field.name === name)) {
      if (name === "reason") field.value = value;
      else if (field.value === value) field.checked = checked;
    }
  }
}
restoreTyped();

/** Asks for the list again and shows it if it is another one; keeps the focus where it was. */
async function lookAtQueue() {
  const queue = document.getElementById("queue");
  if (!queue || document.hidden) return;
  const asked = new URLSearchParams(location.search);
  asked.set("part", "list");
  const answer = await fetch(`/review?${asked}`, {
    headers: { "If-None-Match": `"${queue.dataset.tag}"` },
  });
  if (answer.status === 401) signInAgain();
  if (answer.status !== 200) return;
  const focused = document.activeElement?.getAttribute?.("href");
  const text = await answer.text();
  const shown = new DOMParser().parseFromString(text, "text/html").getElementById("queue");
  if (!shown) return;
  queue.replaceWith(shown);
  document.title = document.title.replace(/^\d+ waiting/, `${shown.dataset.waiting} waiting`);
  if (focused) shown.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

/** Whether a decision was sent from this page. */
const isSent = () => document.querySelector("form[data-sent]") !== null;

/** Says that a set was decided elsewhere, before its reader decides. */
async function lookAtSet() {
  if (!decideForm || isSent() || document.hidden || document.querySelector(".elsewhere")) return;
  const id = decideForm.closest("[data-set]").dataset.set;
  const answer = await fetch(atSite(`/review/sets/${id}`, { part: "state" }));
  if (answer.status === 401) signInAgain();
  if (answer.status !== 200) return;
  const state = (await answer.text()).trim();
  if (state === "open") return;
  const news = document.createElement("p");
  news.className = "news bad elsewhere";
  news.setAttribute("role", "alert");
  const link = document.createElement("a");
  link.href = atSite(location.pathname);
  link.textContent = "Show what was decided";
  news.append(`This was decided meanwhile: ${state}. `, link, ".");
  decideForm.querySelector(".decide").replaceChildren(news);
}

/** Moves among the rows of the queue, or among the changes of a set. */
function move(by) {
  const rows = [...document.querySelectorAll(".queue .row, .change")];
  if (rows.length === 0) return;
  const focused = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, focused < 0 ? 0 : focused + by))];
  if (next.matches(".change")) next.tabIndex = -1;
  next.focus();
}

/** Applies by Ctrl+Enter: never while somebody writes, never by a key that is held down. */
function apply(event) {
  const reason = document.querySelector('input[name="reason"]');
  if (reason?.value.trim()) reason.focus();
  else if (!event.repeat) document.getElementById("apply")?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.target.matches('input:not([type="checkbox"]), textarea, select')) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  // Enter on a tick would send its form.
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && event.target.matches("input")) event.preventDefault();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey && document.getElementById("apply")) {
    event.preventDefault();
    apply(event);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    j: () => move(1),
    k: () => move(-1),
    r: () => document.querySelector('input[name="reason"]')?.focus(),
    n: () => document.querySelector(".more .button, .folded a, .folded button")?.click(),
    q: () => document.querySelector(".top .home").click(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

/** Says how many changes of a set are made, while the answer to its decision is awaited. */
async function tellHowFar(form) {
  const id = form.closest("[data-set]")?.dataset.set;
  if (!id) return;
  const answer = await fetch(atSite(`/review/sets/${id}`, { part: "state" }));
  const far = /^being applied, (\d+) of (\d+)/.exec(answer.ok ? await answer.text() : "");
  if (!far) return;
  let told = document.getElementById("far");
  if (!told) {
    told = document.createElement("p");
    told.id = "far";
    told.setAttribute("role", "status");
    document.querySelector(".decide")?.prepend(told);
  }
  told.textContent = `Being applied: ${far[1]} of ${far[2]} changes are made.`;
}

// A decision is sent once, until its page is left and come back to.
let telling = 0;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-once]")) return;
  if (isSent()) {
    event.preventDefault();
    return;
  }
  // To turn to another view of the set decides nothing.
  if (event.submitter?.name === "turn") return;
  form.dataset.sent = "yes";
  telling = setInterval(() => tellHowFar(form).catch(() => {}), 500);
});
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  clearInterval(telling);
  document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
});

setInterval(() => {
  lookAtQueue().catch(() => {});
  lookAtSet().catch(() => {});
}, every);
