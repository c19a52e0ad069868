"use strict";
// Live updates. Every page works without this: it only saves pressing reload.

const EVERY_MS = 2000;

async function json(address) {
  const response = await fetch(address, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

// Puts the parts marked data-part of a newly made page in place of those shown.
async function redraw() {
  const response = await fetch(location.href);
  if (!response.ok) return;
  const made = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const other = made.querySelector(`[data-part="${part.dataset.part}"]`);
    const busy = part.contains(document.activeElement) || part.querySelector(".zoomed");
    if (other && !busy) part.replaceWith(document.importNode(other, true));
  }
  document.dispatchEvent(new Event("redrawn"));
}

async function live(address) {
  let drawn = null;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    if (document.hidden) continue;
    try {
      const state = await json(address);
      for (const element of document.querySelectorAll("[data-value]")) {
        const text = state.values[element.dataset.value];
        if (text !== undefined && element.textContent !== text) element.textContent = text;
      }
      if (drawn !== null && drawn !== state.drawn) await redraw();
      drawn = state.drawn;
      document.body.classList.remove("stale");
    } catch {
      document.body.classList.add("stale");
    }
  }
}

async function counting(element) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      const state = await json(element.dataset.counting);
      if (state.counted || !state.progress) return location.reload();
      element.textContent = `The pages of this site are being read: ${state.progress[0]} of ${state.progress[1]} captures.`;
    } catch {
      return undefined;
    }
  }
}

const shown = document.querySelector("[data-live]");
if (shown) live(shown.dataset.live);
const waiting = document.querySelector("[data-counting]");
if (waiting) counting(waiting);
else if (document.querySelector("[data-again]")) setTimeout(() => location.reload(), 1500);
