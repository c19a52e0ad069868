"use strict";
// Zooming into charts over time: with buttons, with the keys + - ← → 0, or by dragging over the part to look at.
// A chart is an SVG whose view box is 1000 wide; data-from and data-to are the times at its edges, in seconds.

const WIDTH = 1000;
const NARROWEST = 10;
const MOVES = {
  in: ["+", "Zoom in", ([x, w]) => [x + w / 4, w / 2]],
  out: ["−", "Zoom out", ([x, w]) => [x - w / 2, w * 2]],
  back: ["←", "Earlier", ([x, w]) => [x - w / 4, w]],
  on: ["→", "Later", ([x, w]) => [x + w / 4, w]],
  reset: ["Reset", "Show all", () => [0, WIDTH]],
};
const KEYS = { "+": "in", "=": "in", "-": "out", ArrowLeft: "back", ArrowRight: "on", 0: "reset", Escape: "reset" };

const SPELLED = {
  share: (value) => `${(100 * value).toFixed(1)} %`,
  count: (value) => Math.round(value).toLocaleString("en-US"),
};

function points(svg) {
  const path = svg.querySelector(".line");
  const numbers = (path ? path.getAttribute("d").match(/[\d.-]+/g) || [] : []).map(Number);
  return Array.from({ length: numbers.length / 2 }, (_, n) => [numbers[2 * n], numbers[2 * n + 1]]);
}

// The part of the line that is seen, with its ends where the window cuts it.
function seen(line, x, w) {
  const at = (edge) => {
    const next = line.findIndex(([px]) => px >= edge);
    if (next <= 0) return line[next < 0 ? line.length - 1 : 0][1];
    const [[x0, y0], [x1, y1]] = [line[next - 1], line[next]];
    return x1 > x0 ? y0 + ((edge - x0) / (x1 - x0)) * (y1 - y0) : y1;
  };
  return [at(x), ...line.filter(([px]) => px > x && px < x + w).map(([, y]) => y), at(x + w)];
}

class Zoom {
  constructor(figure) {
    this.figure = figure;
    this.svg = figure.querySelector("svg[data-from]");
    this.height = this.svg.viewBox.baseVal.height;
    this.line = points(this.svg);
    this.axis = [...figure.querySelectorAll(".axis span")];
    this.texts = this.axis.map((span) => span.textContent);
    this.view = [0, WIDTH];
    this.equip();
    this.svg.addEventListener("pointerdown", (event) => this.drag(event));
  }

  equip() {
    this.buttons = document.createElement("div");
    this.buttons.className = "zoom";
    this.buttons.setAttribute("role", "group");
    this.buttons.setAttribute("aria-label", `Zoom: ${this.svg.dataset.title}`);
    for (const [name, [sign, title]] of Object.entries(MOVES)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      button.title = title;
      button.setAttribute("aria-label", title);
      button.hidden = name !== "in";
      button.dataset.move = name;
      button.addEventListener("click", () => this.move(name));
      this.buttons.append(button);
    }
    this.buttons.addEventListener("keydown", (event) => {
      const name = event.ctrlKey || event.altKey || event.metaKey ? undefined : KEYS[event.key];
      if (name) {
        event.preventDefault();
        this.move(name);
      }
    });
    this.figure.prepend(this.buttons);
  }

  move(name) {
    this.show(...MOVES[name][2](this.view));
  }

  show(x, w) {
    w = Math.min(WIDTH, Math.max(NARROWEST, w));
    x = Math.min(WIDTH - w, Math.max(0, x));
    this.view = [x, w];
    const zoomed = w < WIDTH;
    const ys = zoomed && this.line.length ? seen(this.line, x, w) : [0, this.height];
    const middle = (Math.max(...ys) + Math.min(...ys)) / 2;
    const h = zoomed ? Math.max(this.height / 20, (Math.max(...ys) - Math.min(...ys)) * 1.05) : this.height;
    const y = this.line.length ? middle - h / 2 : 0;
    this.svg.setAttribute("viewBox", `${x} ${y} ${w} ${this.line.length ? h : this.height}`);
    this.svg.classList.toggle("zoomed", zoomed);
    if (this.line.length) {
      this.svg.querySelectorAll(".grid").forEach((line, n) => {
        for (const end of ["y1", "y2"]) line.setAttribute(end, y + h * [0.007, 0.5, 0.993][n]);
      });
    }
    this.label(zoomed, ys);
    for (const button of this.buttons.children) button.hidden = !zoomed && button.dataset.move !== "in";
    if (!zoomed && document.activeElement.closest(".zoom") === this.buttons) this.buttons.firstChild.focus();
  }

  label(zoomed, ys) {
    const edges = [[this.view[0], ys[0]], [this.view[0] + this.view[1], ys[ys.length - 1]]];
    this.axis.forEach((span, n) => {
      span.textContent = zoomed ? this.text(...edges[n]) : this.texts[n];
    });
  }

  text(x, y) {
    const { from, to, low, high, unit } = this.svg.dataset;
    const time = new Date(1000 * (Number(from) + (x / WIDTH) * (to - from))).toISOString();
    const shown = to - from > 86400 ? time.slice(0, 16).replace("T", " ") : time.slice(11, 19);
    if (!unit) return `${shown} UTC`;
    const value = Number(low) + (1 - (y - 2) / (this.height - 4)) * (high - low);
    return `${shown} UTC: ${SPELLED[unit](value)}`;
  }

  drag(event) {
    if (event.button) return;
    const box = this.svg.getBoundingClientRect();
    const place = (e) => this.view[0] + (Math.min(1, Math.max(0, (e.clientX - box.left) / box.width))) * this.view[1];
    const start = place(event);
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    mark.setAttribute("class", "select");
    mark.setAttribute("y", -this.height);
    mark.setAttribute("height", 3 * this.height);
    this.svg.append(mark);
    this.svg.setPointerCapture(event.pointerId);
    const moved = (e) => {
      mark.setAttribute("x", Math.min(start, place(e)));
      mark.setAttribute("width", Math.abs(place(e) - start));
    };
    const ended = (e) => {
      mark.remove();
      this.svg.removeEventListener("pointermove", moved);
      for (const kind of ["pointerup", "pointercancel"]) this.svg.removeEventListener(kind, ended);
      const w = Math.abs(place(e) - start);
      if (e.type === "pointerup" && w > this.view[1] / 50) this.show(Math.min(start, place(e)), w);
    };
    this.svg.addEventListener("pointermove", moved);
    for (const kind of ["pointerup", "pointercancel"]) this.svg.addEventListener(kind, ended);
  }
}

function equipAll() {
  for (const svg of document.querySelectorAll("svg[data-from]")) {
    const figure = svg.closest("figure");
    if (figure && !figure.querySelector(".zoom")) new Zoom(figure);
  }
}

document.addEventListener("redrawn", equipAll);
equipAll();
