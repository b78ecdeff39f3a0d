import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";

/** What the system grants to this process. */
export interface HostLimits {
  /** Files and connections that may be open at one time; undefined when the system does not tell. */
  readonly openFiles: number | undefined;
  readonly memoryBytes: number;
}

export function hostLimits(): HostLimits {
  const total = totalmem();
  const constrained = process.constrainedMemory();
  // A system without a limit says 0 or a number beyond all memory.
  const memoryBytes = constrained > 0 ? Math.min(constrained, total) : total;
  return { openFiles: openFileLimit(), memoryBytes };
}

/**
 * What is too little to work well, and what to do about it (options.md#host-limits). Never a reason not to
 * start.
 */
export function hostWarnings({ openFiles, memoryBytes }: HostLimits): readonly string[] {
  const warnings: string[] = [];
  if (openFiles !== undefined && openFiles < ENOUGH_OPEN_FILES)
    warnings.push(
      `Only ${openFiles} files and connections may be open at one time; at least ${ENOUGH_OPEN_FILES} are advised. ` +
        'Raise the limit with "ulimit -n 65536" in the shell that starts the node, LimitNOFILE=65536 in its systemd ' +
        "unit, or --ulimit nofile=65536 of its container.",
    );
  if (memoryBytes < ENOUGH_MEMORY_BYTES)
    warnings.push(
      `Only ${megabytes(memoryBytes)} MB of memory may be used here; at least ${megabytes(ENOUGH_MEMORY_BYTES)} MB are ` +
        "advised, and with less the system may kill the node under load. Raise the limit of its container or its " +
        "systemd unit (MemoryMax).",
    );
  return warnings;
}

/** Besu's advice (options.md#host-limits). */
const ENOUGH_OPEN_FILES = 4096;
/** An idle node has some 150 MB; a full pool, its caches and one block of 12,000 transactions on the way take the rest. */
const ENOUGH_MEMORY_BYTES = 1024 ** 3;

/** Node.js has raised the soft limit to the hard one by now, so this is what counts. */
function openFileLimit(): number | undefined {
  try {
    const line = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return line === undefined ? undefined : Number(line);
  } catch {
    return undefined;
  }
}

/**
 * How many connections may be open at one time, so that the files of the database can still be opened when all of them
 * are; undefined when the system does not tell. Asked once everything but the doors is open.
 */
export function connectionRoom({ openFiles }: HostLimits): number | undefined {
  const open = countOpenFiles();
  if (openFiles === undefined || open === undefined) return undefined;
  return Math.max(FEWEST_CONNECTIONS, openFiles - open - SPARE_OPEN_FILES);
}

/** For what LevelDB opens while it compacts, threads that start anew, the servers themselves, and metrics. */
const SPARE_OPEN_FILES = 40;
/** With no room at all an operator must still be able to ask. */
const FEWEST_CONNECTIONS = 4;

function countOpenFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
