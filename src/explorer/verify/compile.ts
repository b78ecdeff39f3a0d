import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { workerEntry } from "../../workers/workerEntry.ts";
import type { CompiledCode } from "./matchCode.ts";
import type { StandardInput } from "./standardInput.ts";
import { COMPILE_CPU_MS, COMPILE_MS, COMPILER_PAGES, HEAP_MB } from "./verifyLimits.ts";

export interface CompileJob {
  /** A compiler of the operator's folder. */
  readonly compilerPath: string;
  readonly input: StandardInput;
  /** The name of the source that has the contract, and that of the contract. */
  readonly source: string;
  readonly contract: string;
}

export type CompileOutcome =
  | {
      readonly kind: "compiled";
      readonly abi: unknown;
      /** The code, and that with libraries that were linked only after it was compiled, where there are some. */
      readonly codes: readonly CompiledCode[];
      /** Names of the sources of which the contract is made; the input may have others. */
      readonly sources: readonly string[];
    }
  | { readonly kind: "failed"; readonly message: string };

/** A compilation that runs, and its end by force. */
export interface RunningCompilation {
  readonly outcome: Promise<CompileOutcome>;
  kill(): void;
}

/** Compiles in a process of its own, of the lowest priority, which is killed at its limits of time and memory. */
export function startCompilation(
  job: CompileJob,
  {
    limitMs = COMPILE_MS,
    limitCpuMs = COMPILE_CPU_MS,
    niceness = constants.priority.PRIORITY_LOW,
  }: Partial<Limits> = {},
): RunningCompilation {
  const child = fork(fileURLToPath(workerEntry("compilerWorker")), {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  lowerPriority(child.pid, niceness);
  return { outcome: outcomeOf(child, job, { limitMs, limitCpuMs }), kill: () => void child.kill("SIGKILL") };
}

interface Limits {
  readonly limitMs: number;
  /** Limit of a processor's time; not kept where the system does not tell it. */
  readonly limitCpuMs: number;
  /** From 0, the priority of any program, to 19, with which it hardly runs beside busy ones. */
  readonly niceness: number;
}

/** Lowers the priority of a process that has just been started, before it has further threads, which inherit it. */
function lowerPriority(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // Not permitted, or the process has ended: it keeps its priority.
  }
}

function outcomeOf(
  child: ChildProcess,
  job: CompileJob,
  { limitMs, limitCpuMs }: Omit<Limits, "niceness">,
): Promise<CompileOutcome> {
  return new Promise((resolve) => {
    let reason = "The compiler ended before it had an answer.";
    const end = (why: string): void => {
      reason = why;
      child.kill("SIGKILL");
    };
    const deadline = setTimeout(() => end(`The compiler took longer than ${limitMs / 1000} s.`), limitMs);
    const watch = setInterval(() => {
      if (residentBytes(child.pid) > MOST_RESIDENT_BYTES) end("The compiler took too much memory.");
      if (cpuMsOf(child.pid) > limitCpuMs)
        end(`The compiler took more than ${limitCpuMs / 1000} s of a processor's time.`);
    }, WATCH_MS);
    const finish = (outcome: CompileOutcome): void => {
      clearTimeout(deadline);
      clearInterval(watch);
      child.kill("SIGKILL");
      resolve(outcome);
    };
    child.once("message", (outcome: CompileOutcome) => finish(outcome));
    child.once("error", () => finish({ kind: "failed", message: "The compiler cannot be started." }));
    child.once("exit", () => finish({ kind: "failed", message: reason }));
    child.send(job, () => undefined);
  });
}

/** The memory that a process has; 0 where the system does not say. */
function residentBytes(pid: number | undefined): number {
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "latin1").split(" ");
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** The processor's time that a process has taken; 0 where the system does not say. */
function cpuMsOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program comes before, in parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
  } catch {
    return 0;
  }
}

const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const TICK_MS = 10;
const PAGE_BYTES = 4_096;
const WATCH_MS = 200;
/** The compiler's memory and JavaScript's, with room for code and for copies of the input. */
const MOST_RESIDENT_BYTES = COMPILER_PAGES * 65_536 + (HEAP_MB + 256) * 1024 * 1024;
