"use strict";
(() => {
  // The numbers of the page: compressed JSON in base64.
  const unpack = async () => {
    const text = atob(document.getElementById("data").textContent.trim());
    const bytes = Uint8Array.from(text, (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  };
  // Unpacked once, when the page is at rest or somebody asks.
  let unpacking = null;
  const numbers = () => (unpacking ??= unpack());
  let data = null;
  numbers().then((found) => {
    data = found;
    document.body.dataset.ready = "yes";
  }, () => {
    for (const button of document.querySelectorAll("button.csv")) {
      button.disabled = true;
      button.title = "This browser is too old for it; the end of the page says where the numbers are";
    }
  });

  // Save a table: the same bytes as the file in data/.
  for (const button of document.querySelectorAll("[data-csv]")) {
    button.addEventListener("click", async () => {
      const name = button.dataset.csv;
      const { csv } = await numbers();
      const url = URL.createObjectURL(new Blob([csv[name]], { type: "text/csv" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = `${name}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  }

  // Say what the nearest point is. The points of a panel are in the order of its texts.
  const tip = document.getElementById("tip");
  const reach = 12;
  const most = 4;
  const known = new WeakMap();
  const pointsOf = (svg) => {
    if (!known.has(svg)) {
      const drawn = svg.querySelector('[id$="-points"] path')?.getAttribute("d") ?? "";
      const found = drawn.matchAll(/M(-?[\d.]+) (-?[\d.]+)/g);
      known.set(svg, Array.from(found, ([, x, y]) => [Number(x), Number(y)]));
    }
    return known.get(svg);
  };
  // All points that lie where the nearest one does: lines of several drives may coincide.
  const nearest = (svg, event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const scale = svg.getScreenCTM().a;
    const points = pointsOf(svg);
    let best = null;
    let least = (reach / scale) ** 2;
    for (const [x, y] of points) {
      const away = (x - place.x) ** 2 + (y - place.y) ** 2;
      if (away < least) [best, least] = [[x, y], away];
    }
    if (!best) return [];
    return [...points.keys()].filter((number) =>
      Math.hypot(points[number][0] - best[0], points[number][1] - best[1]) < 0.5);
  };
  // Beside an element, for whoever comes to it by key or touches it.
  const showAt = (x, y, text) => {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(x + 12, innerWidth - width - 8))}px`;
    tip.style.top = `${y + height + 20 > innerHeight ? y - height - 12 : y + 14}px`;
  };
  const told = (event) => {
    const word = event.target.closest?.(".word");
    if (!word) return false;
    const { left, bottom } = word.getBoundingClientRect();
    showAt(left - 12, bottom - 8, word.dataset.meaning);
    return true;
  };
  const show = (event) => {
    const panel = event.target.closest?.("[data-tips]");
    const svg = panel?.querySelector("svg");
    const found = svg && data ? nearest(svg, event) : [];
    tip.hidden = found.length === 0;
    if (tip.hidden) {
      told(event);
      return;
    }
    const texts = found.slice(0, most).map((number) => data.tips[panel.dataset.tips][number]);
    if (found.length > most) texts.push(`and ${found.length - most} more`);
    showAt(event.clientX, event.clientY, texts.join("\n\n"));
  };
  // Arrow keys go from point to point of a panel, from the left to the right.
  const at = new WeakMap();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const panel = event.target.matches?.("[data-tips]") ? event.target : null;
    if (!step || !panel || !data) return;
    event.preventDefault();
    const svg = panel.querySelector("svg");
    const points = pointsOf(svg);
    if (!points.length) return;
    const place = ((at.get(panel) ?? (step > 0 ? -1 : 0)) + step + points.length) % points.length;
    at.set(panel, place);
    const [x, y] = points[place];
    const where = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    showAt(where.x, where.y, data.tips[panel.dataset.tips][place]);
  });
  document.addEventListener("focusin", told);
  document.addEventListener("focusout", () => { tip.hidden = true; });
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // Enlarge a panel.
  const dialog = document.getElementById("large");
  for (const button of document.querySelectorAll(".zoom")) {
    button.addEventListener("click", () => {
      const drawing = button.parentElement.querySelector("svg").cloneNode(true);
      dialog.querySelector("div").replaceChildren(drawing);
      dialog.showModal();
    });
  }
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest(".close")) dialog.close();
  });

  // On paper what is folded stands open; not every browser opens it by the page's style.
  const folded = () => document.querySelectorAll("details.caution, details.folded");
  addEventListener("beforeprint", () => {
    for (const one of folded()) {
      if (!one.open) one.dataset.closed = "yes";
      one.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const one of folded()) {
      if (one.dataset.closed) one.open = false;
      delete one.dataset.closed;
    }
  });

  // Sort a table by a column and show as many rows as before; what is empty comes last.
  for (const table of document.querySelectorAll("table[data-rows]")) {
    const body = table.tBodies[0];
    let shown = body.rows.length;
    let order = null;
    const sorted = async () => (await numbers()).sorted[table.dataset.rows];
    const fill = async () => {
      const [rows] = await sorted();
      order ??= rows.map((_, place) => place);
      body.replaceChildren(...order.slice(0, shown).map((place) => {
        const row = document.createElement("tr");
        for (const text of rows[place]) row.insertCell().textContent = text;
        return row;
      }));
    };
    for (const button of table.querySelectorAll("[data-column]")) {
      button.addEventListener("click", async () => {
        const [, values] = await sorted();
        const head = button.closest("th");
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of head.parentElement.cells) {
          other.removeAttribute("aria-sort");
          delete other.dataset.sorted;
        }
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const column = Number(button.dataset.column);
        order = values.map((_, place) => place).sort((one, other) => {
          const a = values[one][column];
          const b = values[other][column];
          if (a === null || b === null) return (a === null) - (b === null) || one - other;
          return (up ? a - b : b - a) || one - other;
        });
        await fill();
        head.dataset.sorted = "yes";
      });
    }
    const figure = table.closest("figure");
    figure.querySelector(".all-rows")?.addEventListener("click", async (event) => {
      event.target.remove();
      figure.querySelector(".shown-rows").remove();
      shown = Infinity;
      await fill();
    });
  }
})();
