"use strict";
// The simulator, away from the page: what takes long here keeps no slider waiting.
//
//   { simulator }                 the module's bytes, compressed        -> { presets }
//   { job, passes, lines, ... }   settings: one measurement after other -> { point } each, { done }
//
// The first pass is drawn whole where it takes less than a second. After that, newer settings are looked
// for between any two measurements.
(() => {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let module = null;

  // Questions and answers go through the module's memory as JSON: see crates/what-if/src/door.rs.
  const opened = async () => {
    const { exports } = await WebAssembly.instantiate(module, {});
    return (question) => {
      const bytes = encoder.encode(JSON.stringify(question));
      const room = exports.what_if_room(bytes.length);
      new Uint8Array(exports.memory.buffer, room, bytes.length).set(bytes);
      const found = exports.what_if_answer();
      const answer = new Uint8Array(exports.memory.buffer, found, exports.what_if_answer_length());
      return JSON.parse(decoder.decode(answer));
    };
  };
  // One for each line, so that each keeps the drive that it holds.
  const simulators = new Map();
  const ask = async (name, question) => {
    if (!simulators.has(name)) simulators.set(name, await opened());
    try {
      return simulators.get(name)(question);
    } catch (error) {
      // Whatever went wrong in it, its memory is worth nothing any more.
      simulators.delete(name);
      return { error: `the simulator stopped (${error.message}); choose a smaller drive` };
    }
  };

  const begin = async (bytes) => {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    postMessage(await ask("changed", { ask: "presets" }));
  };

  let wanted = null;
  let works = false;
  // Lets messages in.
  const breath = () => new Promise((resolve) => { setTimeout(resolve, 0); });

  const UNDISTURBED_MS = 1000;
  const measured = async (job) => {
    const failed = new Set();
    const started = performance.now();
    for (const { name, drive } of job.lines) {
      const told = await ask(name, { ask: "drive", drive });
      postMessage({ job: job.job, line: name, told });
      if (told.error) failed.add(name);
    }
    for (const [number, pass] of job.passes.entries()) {
      for (const { name, drive } of job.lines) {
        for (const depth of job.depths) {
          if (failed.has(name)) continue;
          if (number > 0 || performance.now() - started > UNDISTURBED_MS) {
            await breath();
            if (wanted) return;
          }
          const workload = { ...job.workload, queue_depth: depth };
          const began = performance.now();
          const answer = await ask(name, { ask: "measure", drive, workload, window: pass.window });
          if (answer.error) failed.add(name);
          const took = performance.now() - began;
          postMessage({ job: job.job, line: name, pass: pass.name, depth, answer, took });
        }
      }
      await breath();
      if (wanted) return;
    }
    postMessage({ job: job.job, done: true });
  };
  const work = async () => {
    works = true;
    while (wanted) {
      const job = wanted;
      wanted = null;
      await measured(job);
      await breath();
    }
    works = false;
  };
  addEventListener("message", ({ data }) => {
    if (data.simulator) {
      begin(data.simulator).catch((error) => postMessage({ error: `the simulator cannot be started: ${error.message}` }));
      return;
    }
    wanted = data;
    if (!works) work();
  });
})();
