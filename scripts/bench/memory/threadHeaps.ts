import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The heap of one thread, in bytes. */
export interface ThreadHeap {
  readonly thread: string;
  readonly usedBytes: number;
  /** What V8 has taken from the system for the heap. */
  readonly committedBytes: number;
  /** For objects of the last moments; part of what is committed. */
  readonly youngBytes: number;
  /** Buffers outside of the heap. */
  readonly bufferBytes: number;
}

const EVERY_MS = 5000;

/**
 * Options for Node.js that have each thread of a process write what its heap takes into `folder`, every five seconds and without
 * a garbage collection, which would change what is measured. Where a file `snapshot` appears there, each writes a heap snapshot.
 */
export function watchHeaps(folder: string): readonly string[] {
  const code = `
    import { basename } from "node:path";
    import { existsSync, writeFileSync } from "node:fs";
    import { getHeapSpaceStatistics, getHeapStatistics, writeHeapSnapshot } from "node:v8";
    import { isMainThread, threadId } from "node:worker_threads";
    const folder = ${JSON.stringify(folder)};
    const thread = isMainThread ? "main" : basename(process.argv[1] ?? "worker").replace(/[.].*/, "") + "-" + threadId;
    let isSnapped = false;
    setInterval(() => {
      const { used_heap_size: usedBytes, total_heap_size: committedBytes } = getHeapStatistics();
      const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith("new_"));
      const youngBytes = young.reduce((sum, { space_size: size }) => sum + size, 0);
      const bufferBytes = process.memoryUsage().arrayBuffers;
      const heap = { thread, usedBytes, committedBytes, youngBytes, bufferBytes };
      writeFileSync(folder + "/" + thread + ".heap", JSON.stringify(heap));
      if (isSnapped || !existsSync(folder + "/snapshot")) return;
      isSnapped = true;
      writeHeapSnapshot(folder + "/" + thread + ".heapsnapshot");
    }, ${EVERY_MS}).unref();`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** The latest of each thread, those that ended included; the thread that makes blocks first. */
export function readHeaps(folder: string): readonly ThreadHeap[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".heap"))
    .flatMap((file) => {
      try {
        return [JSON.parse(readFileSync(join(folder, file), "utf8")) as ThreadHeap];
      } catch {
        // It is being written.
        return [];
      }
    })
    .sort((one, other) =>
      one.thread === "main" ? -1 : other.thread === "main" ? 1 : one.thread < other.thread ? -1 : 1,
    );
}
