"use strict";
(() => {
  const { at, made, drawn, three, duration, size, count, share, axis } = elements;
  const clock = (seconds) => seconds < 120 ? `${Math.round(seconds)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

  // --- the last second, in a few large numbers
  const showNumbers = (told) => {
    const { now } = told;
    const { read, write } = now.operations;
    const waf = now.flash?.write_amplification_ratio ?? null;
    const all = told.total.flash?.write_amplification_ratio ?? null;
    const p99 = (of) => duration(of?.latency_ns_p99);
    const late = duration(now.lateness?.late_ns_p99);
    const allowed = duration(told.allowed_late_ns).join(" ");
    const rows = [
      ["Throughput", count(now.iops), "IOPS", `read ${count(read?.iops ?? 0)}, write ${count(write?.iops ?? 0)}`],
      ["Bandwidth", three(now.bytes_per_second / 1e6), "MB/s", ""],
      ["Read latency, 99 %", ...p99(read), read ? `median ${duration(read.latency_ns_p50).join(" ")}` : "no reads"],
      ["Write latency, 99 %", ...p99(write), write ? `median ${duration(write.latency_ns_p50).join(" ")}` : "no writes"],
      ["Queue depth", three(now.queue_depth), "", "requests under way, mean"],
    ];
    if (told.kind !== "hdd" && told.total.flash) {
      const since = all === null ? "nothing was programmed yet" : `${three(all)} since it began`;
      rows.push(["Write amplification", waf === null ? "–" : three(waf), "", since]);
    }
    rows.push(["Lateness, 99 %", ...late, `${share(now.late_ratio)} over ${allowed}`]);
    at("numbers").replaceChildren(...rows.map(([name, value, unit, more]) => made("div", {},
      made("dt", {}, name),
      made("dd", {}, value, made("span", {}, unit ? ` ${unit}` : ""), made("small", {}, more)))));
  };

  // --- lines over the last minutes
  const colours = { blue: "var(--blue)", orange: "var(--orange)", green: "var(--green)", third: "var(--third)" };
  const spans = [["1 minute", 60], ["3 minutes", 180], ["10 minutes", 600]];
  let span = 180;
  let paused = false;
  let rows = [];
  const charts = [
    { name: "Throughput", unit: "IOPS", lines: [["read", "read_iops", "blue"], ["write", "write_iops", "orange"]] },
    { name: "Latency", unit: "the drive's, log scale", log: true, duration: true, lines: [
      ["read 99 %", "read_latency_ns_p99", "blue"], ["read median", "read_latency_ns_p50", "blue", true],
      ["write 99 %", "write_latency_ns_p99", "orange"], ["write median", "write_latency_ns_p50", "orange", true]] },
    { name: "Write amplification", unit: "page programs over pages that the host wrote", flash: true, floor: 1,
      lines: [["in the second", "write_amplification_ratio", "third"]] },
    { name: "Free blocks", unit: "erased and not being filled", flash: true, tight: true,
      lines: [["free blocks", "free_blocks", "green"]] },
    { name: "Lateness", unit: "of replies, 99 %, log scale", log: true, duration: true,
      lines: [["lateness", "late_ns_p99", "green"]] },
  ];
  const [width, height] = [560, 190];
  const [left, right, top, bottom] = [64, 12, 10, 26];

  const markText = (value, chart) => chart.duration ? duration(value).join(" ").replace(".00", "").replace(".0 ", " ")
    : value >= 1000 ? value.toLocaleString("en") : String(+value.toFixed(2));

  const drawChart = (chart, shown, last) => {
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    const values = chart.lines.flatMap(([, key]) => shown.map((row) => row[key]));
    const vertical = axis(values, chart);
    const x = (second) => left + (width - left - right) * (second - (last - span)) / span;
    for (const back of [1, 0.75, 0.5, 0.25, 0]) {
      const place = x(last - back * span);
      svg.append(drawn("line", { x1: place, x2: place, y1: top, y2: height - bottom, class: "gridline" }));
      const said = back === 0 ? "now" : `−${span >= 180 ? `${+(back * span / 60).toFixed(2)} min` : `${back * span} s`}`;
      svg.append(drawn("text", { x: place, y: height - 8, "text-anchor": back === 0 ? "end" : back === 1 ? "start" : "middle" }, said));
    }
    if (!vertical) {
      svg.append(drawn("text", { x: (left + width) / 2, y: height / 2, "text-anchor": "middle", class: "empty" }, "nothing yet"));
      svg.setAttribute("aria-label", `${chart.name}: nothing yet`);
      return svg;
    }
    const { low, high, marks } = vertical;
    const of = (value) => chart.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    const y = (value) => height - bottom - (height - bottom - top) * of(value);
    for (const mark of marks) {
      svg.append(drawn("line", { x1: left, x2: width - right, y1: y(mark), y2: y(mark), class: "gridline" }));
      svg.append(drawn("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, markText(mark, chart)));
    }
    const said = [];
    for (const [name, key, colour, isDashed] of chart.lines) {
      let path = "";
      let before = null;
      for (const row of shown) {
        const value = row[key];
        const isThere = value !== null && (!chart.log || value > 0);
        if (isThere) {
          const place = `${x(row.second).toFixed(1)} ${y(value).toFixed(1)}`;
          // A point by itself is a short stroke.
          path += before === row.second - 1 ? `L${place}` : `M${place}h0.1`;
          before = row.second;
        }
      }
      const line = drawn("path", { d: path, stroke: colours[colour], "stroke-linecap": "round" });
      if (isDashed) line.classList.add("dashed");
      svg.append(line);
      const newest = shown.at(-1)?.[key] ?? null;
      said.push(`${name} ${newest === null ? "none" : markText(newest, chart)}`);
    }
    svg.setAttribute("aria-label", `${chart.name}, ${chart.unit}: ${said.join(", ")} now`);
    return svg;
  };
  const legend = (lines) => {
    const said = lines.length < 2 ? [] : lines.map(([name, , colour, isDashed]) => {
      const sample = drawn("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" });
      const line = drawn("path", { d: "M1 4H25", stroke: colours[colour] });
      if (isDashed) line.classList.add("dashed");
      sample.append(line);
      return made("span", {}, sample, name);
    });
    return made("p", { class: "legend" }, ...said);
  };
  const showCharts = (told) => {
    const last = rows.at(-1)?.second ?? told.second;
    const shown = rows.filter((row) => row.second > last - span);
    const wanted = charts.filter((chart) => !chart.flash || (told.total.flash && told.kind !== "hdd"));
    at("charts").replaceChildren(...wanted.map((chart) => made("figure", {},
      made("h3", {}, chart.name, made("small", {}, chart.unit)),
      legend(chart.lines),
      drawChart(chart, shown, last))));
  };

  // --- channels and dies, by how busy they were
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const shade = (ratio) => {
    const part = Math.min(Math.max(ratio, 0), 1);
    // One hue, from the paper's to a strong orange.
    const steps = dark.matches ? [[29, 36, 44], [122, 68, 24], [240, 136, 62]] : [[244, 246, 248], [250, 190, 130], [200, 80, 0]];
    const place = part * 2;
    const [from, to] = place < 1 ? [steps[0], steps[1]] : [steps[1], steps[2]];
    const along = place < 1 ? place : place - 1;
    return `rgb(${from.map((one, number) => Math.round(one + (to[number] - one) * along)).join(" ")})`;
  };
  const cell = (ratio, title) => {
    const text = (100 * ratio).toFixed(0);
    const found = made("td", { title: `${title}: ${share(ratio)} busy` }, text);
    found.style.background = shade(ratio);
    const isFull = ratio > 0.8;
    found.style.color = isFull ? (dark.matches ? "#14191f" : "#fff") : "var(--ink)";
    return found;
  };
  const heads = (texts) => made("thead", {}, made("tr", {}, ...texts.map((text) => made("th", { scope: "col" }, text))));
  const flashMap = (told) => {
    const { channel_utilisation_ratio: channels, unit_utilisation_ratio: units } = told.now;
    const perMember = channels.length / told.members;
    const ofMember = units.length / told.members;
    const deep = ofMember / perMember;
    // One row a channel; where there are many dies on each, one column a channel is too wide.
    const table = made("table", { class: deep > 12 ? "map many" : "map" });
    const dies = Array.from({ length: deep }, (_, way) => (deep > 12 && way > 0 ? `${way}` : `die ${way}`));
    table.append(heads(["", "bus", ...dies]));
    for (let member = 0; member < told.members; member += 1) {
      const body = made("tbody");
      if (told.members > 1) {
        body.append(made("tr", {}, made("th", { scope: "rowgroup", colspan: deep + 2 }, `member ${member}`)));
      }
      for (let channel = 0; channel < perMember; channel += 1) {
        const row = made("tr", {}, made("th", { scope: "row" }, `channel ${channel}`));
        row.append(cell(channels[member * perMember + channel], `channel ${channel}, transfers`));
        for (let way = 0; way < deep; way += 1) {
          const unit = way * perMember + channel;
          row.append(cell(units[member * ofMember + unit], `channel ${channel}, unit ${way}`));
        }
        body.append(row);
      }
      table.append(body);
    }
    at("busy-lead").textContent = "Share of the last second, in percent: the channel's bus, and each die on it "
      + "(each plane, of a drive whose planes work by themselves).";
    return table;
  };
  const diskMap = (told) => {
    const table = made("table", { class: "map" }, heads(["", "busy"]));
    table.append(made("tbody", {}, ...told.now.disk_utilisation_ratio.map((ratio, number) => made("tr", {},
      made("th", { scope: "row" }, told.members > 1 ? `disk ${number}` : "the disk"), cell(ratio, "disk")))));
    at("busy-lead").textContent = "Share of the last second, in percent, in which the disk moved its arm, waited for "
      + "the platters or transferred. Reading ahead is left out.";
    return table;
  };
  const showMap = (told) => {
    const { now } = told;
    const isFlash = now.unit_utilisation_ratio.length > 0;
    at("busy").hidden = !isFlash && now.disk_utilisation_ratio.length === 0;
    if (at("busy").hidden) return;
    at("map").replaceChildren(isFlash ? flashMap(told) : diskMap(told));
    const steps = [0, 0.25, 0.5, 0.75, 1].map((ratio) => {
      const sample = made("i");
      sample.style.background = shade(ratio);
      return sample;
    });
    at("scale").replaceChildren("idle ", ...steps, " busy all the time");
  };

  // --- buffer, room, collection
  const bar = (ratio) => {
    const inside = made("i");
    inside.style.width = `${100 * Math.min(ratio, 1)}%`;
    return made("span", { class: "bar", "aria-hidden": "true" }, inside);
  };
  const showHeld = (told) => {
    const { buffer, room, flash } = told.now;
    const facts = [];
    if (buffer?.bytes) {
      const ratio = buffer.taken_bytes / buffer.bytes;
      const name = told.kind === "hdd" ? "Write cache" : "Write buffer";
      facts.push([name, `${share(ratio)} of ${size(buffer.bytes)} taken`, bar(ratio)]);
    }
    if (room) {
      const ratio = room.free_blocks / room.blocks;
      facts.push(["Free blocks", `${count(room.free_blocks)} of ${count(room.blocks)}, ${share(ratio)}`, bar(ratio)]);
      const begun = room.collecting_planes ? ` in ${room.collecting_planes} of ${room.planes} planes` : "";
      const moves = flash.collection_moves > 0 ? "moves pages" : begun ? "has begun, and waits for writes" : "rests";
      const when = begun || !room.reserve_blocks ? "" : `; a plane begins at ${room.reserve_blocks / room.planes} free blocks`;
      facts.push(["Collection", `${moves}${begun}${when}`]);
    }
    if (flash) {
      facts.push(["Pages moved by collection", `${count(flash.collection_moves)} in the second`]);
      facts.push(["Blocks erased", `${count(flash.block_erases)} in the second`]);
    }
    facts.push(["Requests under way", told.now.outstanding_requests === null ? "–" : count(told.now.outstanding_requests)]);
    facts.push(["Clients", `${told.connected_clients} now, ${told.clients} so far`]);
    at("held").replaceChildren(...facts.map(([name, text, more]) => made("div", {}, made("dt", {}, name),
      made("dd", {}, text, ...(more ? [more] : [])))));
  };

  // --- all of the time
  const showTotal = (told) => {
    const body = made("tbody");
    for (const [name, of] of Object.entries(told.total.operations)) {
      const times = ["mean", "p50", "p99", "p99_9", "max"].map((key) => duration(of[`latency_ns_${key}`]).join(" "));
      body.append(made("tr", {}, ...[name, count(of.requests), size(of.bytes), ...times].map((text, place) => made("td", place ? { class: "number" } : {}, text))));
    }
    const { lateness } = told.total;
    if (lateness) {
      const times = ["mean", "p50", "p99", "p99_9", "max"].map((key) => duration(lateness[`late_ns_${key}`]).join(" "));
      body.append(made("tr", {}, ...["lateness of replies", count(lateness.replies), "", ...times].map((text, place) => made("td", place ? { class: "number" } : {}, text))));
    }
    const names = ["", "requests", "data", "mean", "50 %", "99 %", "99.9 %", "longest"];
    const head = made("thead", {}, made("tr", {}, ...names.map((text, place) => made("th", { scope: "col", ...(place ? { class: "number" } : {}) }, text))));
    at("total").closest("section").hidden = body.rows.length === 0;
    at("total").replaceChildren(head, body);
  };

  // --- the news line, and everything together
  const say = (text, isWrong = false) => {
    const news = at("news");
    // Read aloud when it changes; the time goes on without that.
    if (news.textContent !== text) news.textContent = text;
    news.classList.toggle("wrong", isWrong);
    document.body.classList.toggle("stale", isWrong);
  };
  const wrongs = (told) => {
    if (told.failure) return [`The drive failed: ${told.failure}.`, true];
    if (told.now.late_ratio > told.allowed_late_ratio) {
      return ["Many replies of the last second were late: programs see a slower drive than the simulated one.", false];
    }
    if (!told.now.requests) return ["Nobody asks the drive for anything.", false];
    return ["Programs are at work.", false];
  };
  let shown = null;
  const showAll = (told) => {
    shown = told;
    document.title = `${told.drive}: Drivelab live drive`;
    at("drive").textContent = told.drive;
    const slowed = told.dilation === 1 ? "" : `, slowed ${told.dilation} times`;
    at("about").textContent = `${size(told.capacity_bytes)}${slowed}, served for ${clock(told.wall_seconds)} at ${told.uri}`;
    showNumbers(told);
    showCharts(told);
    showMap(told);
    showHeld(told);
    showTotal(told);
  };
  const asked = async (path) => {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(4000) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  let newest = 0;
  let misses = 0;
  const look = async () => {
    try {
      const told = await asked("state");
      if (told.second !== newest) {
        // After a gap, and at first, the seconds before are asked for too; a smaller number is another server.
        if (told.second !== newest + 1) rows = (await asked("history")).rows;
        else rows.push(told.row);
        rows = rows.slice(-600);
        newest = told.second;
        if (!paused) showAll(told);
      }
      misses = 0;
      say(...wrongs(told));
    } catch {
      misses += 1;
      if (misses > 1) say("The server is gone. The numbers below are the last that it told; this page asks again every second.", true);
    }
    setTimeout(look, 1000);
  };

  // --- what the reader can do
  const showSpans = () => {
    at("spans").replaceChildren(...spans.map(([name, seconds]) => {
      const button = made("button", { type: "button", "aria-pressed": String(seconds === span) }, name);
      button.addEventListener("click", () => {
        span = seconds;
        for (const other of at("spans").children) other.setAttribute("aria-pressed", String(other === button));
        if (shown) showCharts(shown);
      });
      return button;
    }));
  };
  const pause = () => {
    paused = !paused;
    at("pause").setAttribute("aria-pressed", String(paused));
  };
  at("pause").addEventListener("click", pause);
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || event.target.closest("button, a, [tabindex]")) return;
    event.preventDefault();
    pause();
  });
  dark.addEventListener("change", () => { if (shown) showAll(shown); });
  showSpans();
  look();
})();
