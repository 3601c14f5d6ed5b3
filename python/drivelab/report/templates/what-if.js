(() => {
  const { at, made, drawn, three, duration, size, count, share, axis } = elements;
  const DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128];
  // The second is what `drivelab measure` does of itself: the same numbers come of it.
  const PASSES = [
    { name: "quick", window: { warmup_requests: 500, requests: 500, half_width_ratio: 0.1, max_requests: 2000 } },
    { name: "full", window: { warmup_requests: 2000, requests: 5000, half_width_ratio: 0.01, max_requests: 400000 } },
  ];
  const PAGES = [[2 ** 19, "half a million flash pages: the quickest"], [2 ** 21, "2 million flash pages"], [2 ** 23, "8 million flash pages: takes seconds"]];

  // --- what can be chosen
  const steps = (low, high, each) => {
    const found = [];
    for (let power = low; power < high * 0.999; power *= 10) {
      for (const one of each) if (one * power <= high * 1.001) found.push(Math.round(one * power));
    }
    return [...found, high];
  };
  const range = (low, high) => Array.from({ length: high - low + 1 }, (_, place) => low + place);
  const times = (high) => steps(1000, high, [1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8]);
  const time = (ns) => duration(ns).join(" ");
  const sliders = [
    { id: "channels", of: "drive", label: "Channels", values: range(1, 32), said: String },
    { id: "ways_per_channel", of: "drive", label: "Chips on a channel", values: range(1, 16),
      said: (value) => { const dies = preset().dies_per_way; return dies > 1 ? `${value}, ${value * dies} dies` : `${value}`; } },
    { id: "read_cell_ns", of: "drive", label: "Time to read a page", values: times(1e6), said: time },
    { id: "program_cell_ns", of: "drive", label: "Time to program a page", values: times(1e7), said: time },
    { id: "over_provisioning_ratio", of: "drive", label: "Over-provisioning",
      values: [...range(3, 30), ...range(16, 50).map((half) => 2 * half)].map((percent) => percent / 100),
      said: (value) => `${(100 * value).toFixed(1)} %` },
    { id: "write_ratio", of: "workload", label: "Writes", values: range(0, 20).map((part) => part / 20), start: 0.3,
      said: (value) => `${Math.round(100 * value)} %` },
    { id: "size_bytes", of: "workload", label: "Request size", values: range(9, 20).map((power) => 2 ** power), start: 4096,
      said: (value) => size(value).replace(/\.0+(?= )/, "") },
    { id: "queue_depth", of: "workload", label: "Queue depth", values: DEPTHS, start: 8, said: String },
  ];
  let presets = [];
  const refused = [];
  const preset = () => presets.find((one) => one.name === at("preset").value);
  // What is as the preset says is not asked for, and is exactly that, where no mark of the slider is.
  const changes = new Map();
  const chosen = new Map(sliders.filter((one) => one.of === "workload").map((one) => [one.id, one.start]));
  let isRandom = true;
  const valueOf = ({ id, of }) => of === "drive" ? changes.get(id) ?? preset()[id] : chosen.get(id);
  const nearest = (values, value) => values.reduce((best, one, place) =>
    Math.abs(Math.log(one / value)) < Math.abs(Math.log(values[best] / value)) ? place : best, 0);

  const showSlider = (slider) => {
    const value = valueOf(slider);
    const input = at(slider.id);
    const place = slider.values.indexOf(value);
    input.value = place >= 0 ? place : nearest(slider.values, value);
    const text = slider.said(value);
    input.setAttribute("aria-valuetext", text);
    at(`${slider.id}-said`).textContent = text;
    input.closest(".slider").classList.toggle("changed", slider.of === "drive" && changes.has(slider.id));
  };
  const makeSlider = (slider) => {
    const input = made("input", { type: "range", id: slider.id, min: 0, max: slider.values.length - 1, step: 1 });
    input.addEventListener("input", () => {
      const value = slider.values[+input.value];
      if (slider.of === "workload") chosen.set(slider.id, value);
      else if (value === preset()[slider.id]) changes.delete(slider.id);
      else changes.set(slider.id, value);
      showSlider(slider);
      if (slider.id === "queue_depth") showAll();
      else wish();
    });
    return made("div", { class: "slider" },
      made("p", {}, made("label", { for: slider.id }, slider.label), made("output", { id: `${slider.id}-said`, for: slider.id })), input);
  };
  const makeOrder = () => {
    const option = (name, random) => {
      const input = made("input", { type: "radio", name: "order", value: String(random) });
      input.checked = random === isRandom;
      input.addEventListener("change", () => { isRandom = random; wish(); });
      return made("label", {}, input, name);
    };
    return made("div", { class: "choice", role: "radiogroup", "aria-label": "Where requests go" },
      option("anywhere", true), option("one behind the other", false));
  };
  const showPreset = () => {
    at("summary").textContent = preset().summary;
    for (const slider of sliders) showSlider(slider);
  };

  // --- what is measured
  const worker = new Worker(URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" })));
  // By line and depth the last answer, and of which job it is.
  const points = { changed: new Map(), preset: new Map() };
  // What presets did, by what was asked: they come back.
  const kept = new Map();
  let told = null;
  let job = 0;
  let asked = null;
  const drives = () => {
    const plain = { preset: at("preset").value, most_pages: +at("most-pages").value };
    return { plain, changed: { ...plain, ...Object.fromEntries(changes) } };
  };
  const wish = () => {
    const { plain, changed } = drives();
    const workload = { write_ratio: chosen.get("write_ratio"), size_bytes: chosen.get("size_bytes"), is_random: isRandom };
    job += 1;
    const key = JSON.stringify([plain, workload]);
    if (!kept.has(key)) kept.set(key, new Map());
    points.preset = kept.get(key);
    const isKnown = DEPTHS.every((depth) => points.preset.get(depth)?.pass === "full");
    const lines = [{ name: "changed", drive: changed }];
    if (changes.size && !isKnown) lines.push({ name: "preset", drive: plain });
    asked = { job, lines, workload, key, isChanged: changes.size > 0 };
    if (!preset().holds_data && !workload.write_ratio) {
      points.changed.clear();
      say(`${preset().name} was never written and holds nothing to read: choose a share of writes.`, true);
      showAll();
      return;
    }
    worker.postMessage({ job, passes: PASSES, lines, depths: DEPTHS, workload });
    say("Preparing the drive.");
    showAll();
  };

  const say = (text, isWrong = false) => {
    const news = at("news");
    if (news.textContent !== text) news.textContent = text;
    news.classList.toggle("wrong", isWrong);
  };
  const take = (data) => {
    if (data.error) { say(data.error, true); return; }
    if (data.presets) { begin(data.presets); return; }
    const isNow = data.job === asked.job;
    if (data.told) {
      if (data.told.error) { if (isNow) say(`There is no such drive: ${data.told.error}.`, true); return; }
      if (data.line === "changed" && isNow) told = data.told;
    } else if (data.done) {
      if (isNow && !at("news").classList.contains("wrong")) say("Measured in full.");
    } else if (data.answer.error) {
      if (isNow) say(`The drive cannot do this: ${data.answer.error}.`, true);
      return;
    } else if (data.line === "changed" || isNow) {
      // While a slider moves, what was asked before is nearer than nothing; it is drawn pale.
      points[data.line].set(data.depth, { ...data, isNow });
      if (isNow) say(data.pass === "quick" ? "A quick look." : `Measuring in full: queue depth ${data.depth}${data.line === "preset" ? ", the preset" : ""}.`);
    }
    showSoon();
  };
  worker.addEventListener("message", ({ data }) => take(data));
  worker.addEventListener("error", (event) => say(`The simulator failed: ${event.message}. Open the page again.`, true));
  worker.addEventListener("messageerror", () => say("The simulator failed. Open the page again.", true));

  // --- curves
  const [width, height] = [560, 230];
  const [left, right, top, bottom] = [66, 12, 10, 44];
  const colours = { read: "var(--blue)", write: "var(--orange)", all: "var(--green)", waf: "var(--third)" };
  const charts = [
    { name: "Throughput", unit: "requests a second", said: count, lines: [["all requests", "all", (one) => one.iops]] },
    { name: "Read latency", unit: "log scale", log: true, said: time, lines: [
      ["mean", "read", (one) => one.read?.latency_ns_mean], ["99 %", "read", (one) => one.read?.latency_ns_p99, true]] },
    { name: "Write latency", unit: "log scale", log: true, said: time, lines: [
      ["mean", "write", (one) => one.write?.latency_ns_mean], ["99 %", "write", (one) => one.write?.latency_ns_p99, true]] },
    { name: "Write amplification", unit: "pages programmed for each that the host wrote", floor: 1, said: three,
      lines: [["all writes", "waf", (one) => one.write_amplification_ratio]] },
  ];
  const x = (depth) => left + (width - left - right) * (0.03 + 0.94 * Math.log2(depth) / Math.log2(DEPTHS.at(-1)));
  const series = (line, of) => DEPTHS.filter((depth) => points[line].has(depth))
    .map((depth) => ({ depth, point: points[line].get(depth), value: of(points[line].get(depth).answer) ?? null }))
    .filter((one) => one.value !== null);
  const mark = (value, chart) => chart.said(value).replace(/\.0+(?=\D|$)/, "");
  const drawChart = (chart) => {
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    const lines = chart.lines.flatMap(([name, colour, of, isDashed]) => [
      ...(asked?.isChanged ? [{ name: `${name}, the preset`, line: "preset", colour, isDashed, rows: series("preset", of) }] : []),
      { name, line: "changed", colour, isDashed, rows: series("changed", of) }]);
    const values = lines.flatMap(({ rows }) => rows.map((row) => row.value));
    const vertical = axis(values, chart);
    for (const depth of DEPTHS) {
      svg.append(drawn("line", { x1: x(depth), x2: x(depth), y1: top, y2: height - bottom, class: depth === chosen.get("queue_depth") ? "chosen" : "gridline" }));
      svg.append(drawn("text", { x: x(depth), y: height - bottom + 17, "text-anchor": "middle" }, String(depth)));
    }
    svg.append(drawn("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "queue depth, requests outstanding"));
    if (!vertical) {
      const why = chart.name.startsWith("Read") ? "no reads" : chart.name === "Throughput" ? "nothing yet" : "no writes";
      svg.append(drawn("text", { x: (left + width) / 2, y: height / 2, "text-anchor": "middle", class: "empty" }, why));
      svg.setAttribute("aria-label", `${chart.name}: ${why}`);
      return svg;
    }
    const { low, high, marks } = vertical;
    const of = (value) => chart.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    const y = (value) => height - bottom - (height - bottom - top) * of(value);
    for (const value of marks) {
      svg.append(drawn("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "gridline" }));
      svg.append(drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, mark(value, chart)));
    }
    const said = [];
    for (const { name, line, colour, isDashed, rows } of lines) {
      const isPreset = line === "preset";
      const group = drawn("g", { opacity: isPreset || rows.every(({ point }) => point.isNow && point.job === asked.job) ? 1 : 0.45 });
      const path = drawn("path", { d: rows.map(({ depth, value }, place) => `${place ? "L" : "M"}${x(depth).toFixed(1)} ${y(value).toFixed(1)}`).join(""), stroke: colours[colour] });
      if (isPreset) path.classList.add("preset");
      if (isDashed) path.classList.add("dashed");
      group.append(path);
      if (!isPreset) {
        for (const { depth, value, point } of rows) {
          const dot = drawn("circle", { cx: x(depth), cy: y(value), r: 3.2, stroke: colours[colour], "stroke-width": 1.4, fill: colours[colour], class: point.pass });
          dot.append(drawn("title", {}, `${chart.name}, ${name}, queue depth ${depth}: ${chart.said(value)}`));
          group.append(dot);
        }
      }
      svg.append(group);
      const here = rows.find(({ depth }) => depth === chosen.get("queue_depth"));
      if (here) said.push(`${name} ${chart.said(here.value)}`);
    }
    svg.setAttribute("aria-label", `${chart.name} over queue depth; at ${chosen.get("queue_depth")}: ${said.join(", ")}`);
    return svg;
  };
  const sample = (attributes, more = "path") => {
    const svg = drawn("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
    svg.append(more === "path" ? drawn("path", { d: "M1 5H25", stroke: "var(--ink)", ...attributes })
      : drawn("circle", { cx: 13, cy: 5, r: 3.4, stroke: "var(--ink)", "stroke-width": 1.4, fill: "var(--ink)", ...attributes }));
    return svg;
  };
  const showLegend = () => at("legend").replaceChildren(...[
    [sample({}), "this drive, mean"], [sample({ class: "dashed" }), "99 % are faster"],
    ...(asked?.isChanged ? [[sample({ class: "preset" }), "the preset as it is"]] : []),
    [sample({ class: "quick" }, "circle"), "a quick look"], [sample({}, "circle"), "measured in full"],
  ].map(([picture, text]) => made("span", {}, picture, text)));
  // Counted in ns, so an axis in ns may say microseconds.
  const showCharts = () => at("charts").replaceChildren(...charts.map((chart) => made("figure", {},
    made("h3", {}, chart.name, made("small", {}, chart.unit)), drawChart(chart))));

  // --- numbers
  const against = (value, before) => {
    if (!asked?.isChanged || !before || !value) return "";
    const ratio = value / before;
    if (Math.abs(ratio - 1) < 0.0005) return "as the preset";
    return ratio >= 2 ? `${three(ratio)} times the preset's` : `${ratio > 1 ? "+" : "−"}${three(100 * Math.abs(ratio - 1))} % against the preset`;
  };
  const showNumbers = () => {
    const depth = chosen.get("queue_depth");
    at("depth-said").textContent = String(depth);
    const point = points.changed.get(depth);
    const one = point?.answer;
    const before = points.preset.get(depth)?.answer;
    const sure = one?.half_width_ratio;
    const rows = [
      ["Throughput", one ? count(one.iops) : "–", "IOPS", against(one?.iops, before?.iops)],
      ["Bandwidth", one ? three(one.bytes_per_second / 1e6) : "–", "MB/s", against(one?.bytes_per_second, before?.bytes_per_second)],
      ...["read", "write"].map((name) => {
        const of = one?.[name];
        const [value, unit] = of ? duration(of.latency_ns_mean) : ["–", ""];
        const more = of ? [`99 %: ${time(of.latency_ns_p99)}`, against(of.latency_ns_mean, before?.[name]?.latency_ns_mean)] : [one ? `no ${name}s` : ""];
        return [`${name === "read" ? "Read" : "Write"} latency, mean`, value, unit, more.filter(Boolean).join("; ")];
      }),
      ["Write amplification", one?.write_amplification_ratio ? three(one.write_amplification_ratio) : "–", "", against(one?.write_amplification_ratio, before?.write_amplification_ratio)],
      ["How sure", sure === null || sure === undefined ? "–" : `± ${three(100 * sure)}`, "%", point ? `of the mean latency; ${point.pass === "quick" ? "a quick look" : "measured in full"}` : ""],
    ];
    at("numbers").replaceChildren(...rows.map(([name, value, unit, more]) => made("div", {},
      made("dt", {}, name), made("dd", {}, value, made("span", {}, unit ? ` ${unit}` : ""), made("small", {}, more)))));
  };
  const showTable = () => {
    const names = ["queue depth", "IOPS", "MB/s", "read mean", "read 99 %", "write mean", "write 99 %", "write amplification", "half-width", "requests", ""];
    const rows = DEPTHS.filter((depth) => points.changed.has(depth)).map((depth) => {
      const { answer, pass } = points.changed.get(depth);
      const of = (name, key) => answer[name] ? time(answer[name][key]) : "–";
      const requests = (answer.read?.requests ?? 0) + (answer.write?.requests ?? 0);
      const row = made("tr", { "data-depth": depth, "data-pass": pass }, ...[depth, count(answer.iops), three(answer.bytes_per_second / 1e6),
        of("read", "latency_ns_mean"), of("read", "latency_ns_p99"), of("write", "latency_ns_mean"), of("write", "latency_ns_p99"),
        answer.write_amplification_ratio ? three(answer.write_amplification_ratio) : "–",
        answer.half_width_ratio === null ? "–" : share(answer.half_width_ratio), count(requests), pass === "quick" ? "quick look" : "full",
      ].map((text) => made("td", { class: "number" }, String(text))));
      return row;
    });
    at("table").replaceChildren(made("thead", {}, made("tr", {}, ...names.map((name) => made("th", { scope: "col" }, name)))), made("tbody", {}, ...rows));
  };

  // As the simulator said it, to the last digit.
  const table = () => {
    const of = (name) => ["requests", "latency_ns_mean", "latency_ns_p50", "latency_ns_p99", "latency_ns_p99_9"].map((key) => [`${name}_${key}`, (one) => one[name]?.[key]]);
    const columns = [...["iops", "bytes_per_second", "latency_ns_mean", "half_width_ratio", "duration_ns", "stopped_by"].map((key) => [key, (one) => one[key]]),
      ...of("read"), ...of("write"), ...["write_amplification_ratio", "block_erases", "die_utilisation_ratio", "channel_utilisation_ratio"].map((key) => [key, (one) => one[key]])];
    const rows = DEPTHS.filter((depth) => points.changed.has(depth)).map((depth) => {
      const { answer, pass } = points.changed.get(depth);
      return [depth, pass, ...columns.map(([, value]) => value(answer) ?? "")];
    });
    return [["queue_depth", "pass", ...columns.map(([name]) => name)], ...rows].map((row) => `${row.join(",")}\n`).join("");
  };

  // --- what is simulated
  const showSimulated = () => {
    if (!told) return;
    const isScaled = told.blocks_per_plane !== told.whole_blocks_per_plane;
    const percent = (ratio) => `${(100 * ratio).toFixed(1)} %`;
    at("scaled").textContent = isScaled
      ? `A smaller drive: of the ${told.whole_blocks_per_plane.toLocaleString("en")} blocks of each plane ${told.blocks_per_plane} are simulated, `
        + `${size(told.capacity_bytes)} of ${size(told.whole_capacity_bytes)}. All ${told.dies} dies, every time and every queue are as they are in the whole drive. `
        + `Blocks that are kept back for collection take a larger part of a smaller plane, so its over-provisioning is ${percent(told.over_provisioning_ratio)} `
        + `instead of ${percent(told.whole_over_provisioning_ratio)}: collection then has the same share of the flash to work with. `
        + "Write amplification comes out within a few percent of the whole drive's; what a cache or an SLC region holds is not in proportion."
      : `The whole drive, ${size(told.capacity_bytes)}, with all ${told.dies} dies.`;
    const bytes = chosen.get("size_bytes");
    const random = isRandom ? 1 : 0;
    at("command").textContent = `drivelab measure sim:what-if.toml --writes sustained --write-ratio ${chosen.get("write_ratio")} --queue-depth ${chosen.get("queue_depth")} `
      + `--read-size ${bytes} --write-size ${bytes} --read-random ${random} --write-random ${random}`;
  };
  const showAll = () => {
    showLegend();
    showNumbers();
    showCharts();
    showTable();
    showSimulated();
  };
  let isDue = false;
  const showSoon = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; showAll(); });
  };

  // --- the beginning
  // A report's link: `#preset=x25m&queue_depth=32`, or the preset alone. What a slider cannot have goes to its nearest mark.
  const takeLink = () => {
    const text = location.hash.slice(1);
    const asked = new URLSearchParams(text.includes("=") ? text : `preset=${text}`);
    for (const { id, values } of sliders.filter((one) => one.of === "workload")) {
      if (asked.has(id)) chosen.set(id, values[nearest(values, Number(asked.get(id)))]);
    }
    if (asked.get("order") === "sequential") isRandom = false;
    const wanted = asked.get("preset");
    if (!wanted || presets.some((one) => one.name === wanted)) return wanted || "x25m";
    at("unknown").textContent = `This page has no preset ${wanted}; it shows x25m.`;
    at("unknown").hidden = false;
    return "x25m";
  };
  const begin = (found) => {
    presets = found.filter((one) => !one.refusal);
    refused.push(...found.filter((one) => one.refusal));
    at("preset").append(...presets.map((one) => made("option", { value: one.name }, one.name)));
    at("preset").value = takeLink();
    at("refused").append(...refused.map((one) => made("li", {}, `${one.name}: ${one.refusal}`)));
    at("most-pages").append(...PAGES.map(([pages, text]) => made("option", { value: pages }, text)));
    at("drive").append(...sliders.filter((one) => one.of === "drive").map(makeSlider));
    at("workload").append(...sliders.filter((one) => one.of === "workload").map(makeSlider), makeOrder());
    at("preset").addEventListener("change", () => { changes.clear(); points.changed.clear(); showPreset(); wish(); });
    at("most-pages").addEventListener("change", wish);
    at("reset").addEventListener("click", () => { changes.clear(); showPreset(); wish(); });
    at("settings").addEventListener("submit", (event) => event.preventDefault());
    const saved = (name, type, text) => made("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name }).click();
    at("save").addEventListener("click", () => { if (told) saved("what-if.toml", "application/toml", told.toml); });
    at("csv").addEventListener("click", () => saved("what-if.csv", "text/csv", table()));
    showPreset();
    wish();
  };
  const bytes = Uint8Array.from(atob(at("simulator").textContent), (letter) => letter.charCodeAt(0));
  worker.postMessage({ simulator: bytes.buffer }, [bytes.buffer]);
})();
