"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Save a table: the same bytes as the file in data/.
  for (const button of document.querySelectorAll("[data-csv]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.csv;
      const url = URL.createObjectURL(new Blob([data.csv[name]], { type: "text/csv" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = `${name}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  }

  // Say which workload a dot is. The dots of a panel are in the order of the workloads.
  const tip = document.getElementById("tip");
  const show = (event) => {
    const dot = event.target.closest("[data-points] use");
    const group = dot && dot.closest('[id$="-points"]');
    tip.hidden = !group;
    if (!group) return;
    tip.textContent = data.points[[...group.querySelectorAll("use")].indexOf(dot)];
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 12, innerWidth - width - 8);
    const top = event.clientY + height + 20 > innerHeight ? event.clientY - height - 12 : event.clientY + 14;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${top}px`;
  };
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

  // Sort the workloads by a column; what is empty comes last.
  const body = document.querySelector("#workload-table tbody");
  const rows = [...body.rows].map((row, place) => ({ row, values: data.values[place] }));
  for (const button of document.querySelectorAll("#workload-table [data-column]")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const column = Number(button.dataset.column);
      rows.sort((one, other) => {
        const a = one.values[column];
        const b = other.values[column];
        if (a === null || b === null) return (a === null) - (b === null);
        return up ? a - b : b - a;
      });
      body.replaceChildren(...rows.map((entry) => entry.row));
    });
  }
})();
