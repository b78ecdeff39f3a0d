import { readFileSync } from "node:fs";

/**
 * Options of Node.js that write to `file`, twenty times a second, the longest pause of the main thread's event loop since
 * the last line, without the time in which it waited for a processor.
 */
export function watchingPauses(file: string): readonly string[] {
  const code = `import{monitorEventLoopDelay as d}from"node:perf_hooks";import{appendFileSync as a,readFileSync as r}from"node:fs";import{isMainThread as m}from"node:worker_threads";if(m){const w=()=>{try{return r("/proc/thread-self/schedstat","latin1").split(" ")[1]/1e6}catch{return 0}};let b=w();const h=d({resolution:1});h.enable();setInterval(()=>{const n=w();a("${file}",Date.now()+" "+(h.max/1e6-(n-b))+"\\n");b=n;h.reset()},50).unref()}`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** The longest pause that ended between two times of Date.now(), milliseconds. */
export function longestPauseMs(file: string, fromMs: number, toMs: number): number {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const pauses = lines
    .map((line) => line.split(" ").map(Number))
    .filter(([atMs = 0]) => atMs > fromMs && atMs <= toMs + LINE_MS)
    .map(([, pauseMs = 0]) => pauseMs);
  return Math.max(0, ...pauses);
}

/** A line may be written this much later than the pause. */
const LINE_MS = 100;
