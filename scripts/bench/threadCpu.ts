import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Options for Node.js with which each thread of it that runs JavaScript writes its name to a file of `folder` that is named after
 * the system's id of the thread (Linux).
 */
export function nameThreadsIn(folder: string): readonly string[] {
  const code = `
    import { basename } from "node:path";
    import { readlinkSync, writeFileSync } from "node:fs";
    import { isMainThread } from "node:worker_threads";
    const id = basename(readlinkSync("/proc/thread-self"));
    writeFileSync(${JSON.stringify(folder)} + "/" + id, isMainThread ? "main" : basename(process.argv[1] ?? "", ".js"));`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** CPU seconds (user and system) of each thread that runs, by the system's id (Linux). */
export function cpuOfThreads(pid: number): ReadonlyMap<number, number> {
  const seconds = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ")[1] ?? "";
      const [userTicks = 0, systemTicks = 0] = stat.split(" ").slice(11, 13).map(Number);
      seconds.set(Number(thread), (userTicks + systemTicks) / 100);
    } catch {
      // It has ended.
    }
  }
  return seconds;
}

/**
 * The same by name: those that named themselves in `folder` and, in the order in which a process starts them, V8's workers (garbage
 * collection, compilation), the pool of libuv (reads and writes of files, LevelDB's calls), and LevelDB's compaction, which is one
 * thread for all databases of a process.
 */
export function cpuByName(pid: number, folder: string): ReadonlyMap<string, number> {
  const names = new Map(
    readdirSync(folder).map((id) => [Number(id), readFileSync(join(folder, id), "utf8")] as const),
  );
  const native = [...NATIVE_THREADS];
  const seconds = new Map<string, number>();
  for (const [thread, used] of [...cpuOfThreads(pid)].sort(([one], [other]) => one - other)) {
    const name = names.get(thread) ?? native.shift() ?? "other";
    seconds.set(name, (seconds.get(name) ?? 0) + used);
  }
  return seconds;
}

/** Of Node.js 20 to 24 with its four workers, the thread that delays tasks first, and the one that waits for a debugger after them. */
const NATIVE_THREADS = [
  "other",
  ...Array.from({ length: 4 }, () => "V8"),
  "other",
  ...Array.from({ length: 4 }, () => "libuv"),
  "compaction",
];
