import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CaseResult, Suite } from "./suite.ts";
import type { Portion, WorkerMessage } from "./worker.ts";

/** The cases of a suite to run. */
export interface Selection {
  readonly suite: Suite;
  /** Ids of all its cases. */
  readonly ids: readonly string[];
  /** Positions of the selected cases in `ids`. */
  readonly indexes: readonly number[];
}

/**
 * Runs the selected cases on the given number of processes; returns results by suite. Processes fetch small portions when
 * they are free, so that all end at about the same time. Throws when a process dies or a case exceeds CASE_LIMIT_MS.
 */
export async function runAll(
  selections: readonly Selection[],
  processes: number,
): Promise<ReadonlyMap<string, readonly CaseResult[]>> {
  const results = new Map<string, CaseResult[]>(selections.map(({ suite }) => [suite.name, []]));
  const portions = selections.flatMap((selection) => portionsOf(selection, processes));
  const nameOf = ({ suite, indexes }: Portion, done: number): string => {
    const ids = selections.find((selection) => selection.suite.name === suite)?.ids;
    return `${suite}: ${ids?.[indexes[done] ?? 0] ?? "?"}`;
  };
  const next = (): Portion | undefined => portions.shift();
  const keep = ({ suite }: Portion, result: CaseResult): void => {
    results.get(suite)?.push(result);
  };
  await Promise.all(Array.from({ length: processes }, () => runProcess({ next, keep, nameOf })));
  return results;
}

/** A case that takes longer hangs or is too slow. */
const CASE_LIMIT_MS = 180_000;
const PORTIONS_PER_PROCESS = 16;

function portionsOf({ suite, indexes }: Selection, processes: number): Portion[] {
  const size = Math.ceil(indexes.length / (processes * PORTIONS_PER_PROCESS));
  const portions: Portion[] = [];
  for (let from = 0; from < indexes.length; from += size)
    portions.push({ suite: suite.name, indexes: indexes.slice(from, from + size) });
  return portions;
}

interface Work {
  next(): Portion | undefined;
  keep(portion: Portion, result: CaseResult): void;
  /** The running case when `done` of a portion are finished. */
  nameOf(portion: Portion, done: number): string;
}

function runProcess({ next, keep, nameOf }: Work): Promise<void> {
  const first = next();
  if (first === undefined) return Promise.resolve();
  let portion: Portion = first;
  let done = 0;
  const child = fork(fileURLToPath(new URL("worker.js", import.meta.url)));
  return new Promise((resolve, reject) => {
    let isOver = false;
    let isDisconnected = false;
    const timer = setTimeout(abort, CASE_LIMIT_MS);
    child.on("message", (message: WorkerMessage) => {
      timer.refresh();
      if (message.kind === "result") {
        keep(portion, message.result);
        done++;
        return;
      }
      const following = next();
      if (following === undefined) return disconnect();
      portion = following;
      done = 0;
      child.send(portion);
    });
    child.on("exit", (code, signal) => {
      if (isDisconnected) end(resolve);
      else end(() => reject(new Error(`the process ended (${signal ?? code}) in ${nameOf(portion, done)}`)));
    });
    child.send(portion);

    function disconnect(): void {
      isDisconnected = true;
      child.disconnect();
    }
    function abort(): void {
      child.kill("SIGKILL");
      end(() => reject(new Error(`still running after ${CASE_LIMIT_MS / 1000} s: ${nameOf(portion, done)}`)));
    }
    function end(settle: () => void): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      settle();
    }
  });
}
