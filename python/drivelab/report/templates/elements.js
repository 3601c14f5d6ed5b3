"use strict";
// What the scripts of pages that draw themselves share: elements, numbers for people, axes.
const elements = (() => {
  const at = (id) => document.getElementById(id);
  const made = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };
  const drawn = (name, attributes = {}, text = null) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    return element;
  };

  // --- numbers for people: three digits and a unit
  const three = (value) => value >= 99.95 ? Math.round(value).toLocaleString("en")
    : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
  const duration = (ns) => {
    if (ns === null || ns === undefined) return ["–", ""];
    for (const [unit, factor] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
      if (ns >= factor * 0.9995) return [three(ns / factor), unit];
    }
    return [three(ns), "ns"];
  };
  const size = (bytes) => {
    for (const [unit, factor] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024]]) {
      if (bytes >= factor) return `${three(bytes / factor)} ${unit}`;
    }
    return `${bytes} B`;
  };
  const count = (value) => value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : three(value);
  const share = (ratio) => `${three(100 * ratio)} %`;

  // Ends and marks of an axis: round numbers, or powers of ten.
  const axis = (values, { log, floor, tight }) => {
    const known = values.filter((value) => value !== null && (!log || value > 0));
    if (!known.length) return null;
    let [low, high] = [Math.min(...known), Math.max(...known)];
    if (log) {
      low = 10 ** Math.floor(Math.log10(low));
      high = 10 ** Math.max(Math.ceil(Math.log10(high)), Math.log10(low) + 1);
      const marks = [];
      for (let mark = low; mark <= high * 1.001; mark *= 10) marks.push(mark);
      return { low, high, marks };
    }
    if (!tight) low = floor ?? 0;
    if (high <= low) high = low + Math.max(1, low * 0.01);
    const rough = (high - low) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const smallest = tight ? 1 : 0;
    const step = Math.max(smallest, [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough));
    low = Math.floor(low / step + 1e-9) * step;
    high = Math.ceil(high / step - 1e-9) * step;
    const marks = [];
    for (let mark = low; mark <= high + step / 2; mark += step) marks.push(mark);
    return { low, high, marks };
  };

  return { at, made, drawn, three, duration, size, count, share, axis };
})();
