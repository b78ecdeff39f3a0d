import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { isMainThread, threadId } from "node:worker_threads";

/**
 * Loaded before the program in each of its threads (`--import`): writes, on SIGUSR2 to the process, where the functions begin
 * that ran since the last signal, by file. Each thread writes a file of its own into IBEX_COVERAGE, named by the number of the signal and of the thread.
 */
const folder = process.env.IBEX_COVERAGE;
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const channel = new BroadcastChannel("coverage");
channel.unref();
channel.onmessage = ({ data }) => write(data);

if (isMainThread) {
  let signals = 0;
  process.on("SIGUSR2", () => {
    signals += 1;
    channel.postMessage(signals);
    write(signals);
  });
}

function write(signal) {
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error;
    const ran = coverage.result
      .filter(({ url }) => url.startsWith("file:"))
      .map(({ url, functions }) => [
        url,
        functions.filter(hasRun).map(({ ranges: [range] }) => range.startOffset),
      ]);
    const path = join(folder, `${signal}-${threadId}.json`);
    writeFileSync(`${folder}/part-${threadId}`, JSON.stringify(ran));
    renameSync(`${folder}/part-${threadId}`, path);
  });
}

/** The first function of a file is its top level, which runs when the file is loaded. */
function hasRun({ functionName, ranges: [range] }, index) {
  return range.count > 0 && !(index === 0 && functionName === "");
}
