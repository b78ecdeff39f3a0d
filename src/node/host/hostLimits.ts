import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { CALLER_SERVERS } from "../../rpc/server/serverTable.ts";
import type { ChainReaders } from "./chainReaders.ts";

/** Resource limits of this process. */
interface HostLimits {
  /** Limit of open files and connections; undefined when it cannot be read. */
  readonly openFiles: number | undefined;
  readonly memoryBytes: number;
}

export function hostLimits(): HostLimits {
  const total = totalmem();
  const constrained = process.constrainedMemory();
  // Without a limit, the value is 0 or larger than the total memory.
  const memoryBytes = constrained > 0 ? Math.min(constrained, total) : total;
  return { openFiles: openFileLimit(), memoryBytes };
}

/**
 * Warnings about limits that are too low, with the remedy (options.md#host-limits). They never prevent the start.
 */
export function hostWarnings({ openFiles, memoryBytes }: HostLimits): readonly string[] {
  const warnings: string[] = [];
  if (openFiles !== undefined && openFiles < ENOUGH_OPEN_FILES)
    warnings.push(
      `Only ${openFiles} files and connections may be open at one time; at least ${ENOUGH_OPEN_FILES} are recommended. ` +
        'Raise the limit with "ulimit -n 65536" in the shell that starts the node, LimitNOFILE=65536 in its systemd ' +
        "unit, or --ulimit nofile=65536 for its container.",
    );
  if (memoryBytes < ENOUGH_MEMORY_BYTES)
    warnings.push(
      `Only ${megabytes(memoryBytes)} MB of memory are available; at least ${megabytes(ENOUGH_MEMORY_BYTES)} MB are ` +
        "recommended, and with less the system may kill the node under load. Raise the limit of its container or its " +
        "systemd unit (MemoryMax).",
    );
  return warnings;
}

/** Besu's recommendation (options.md#host-limits). */
const ENOUGH_OPEN_FILES = 4096;
/** An idle node uses about 150 MB; a full pool, its caches and one block of 12,000 transactions in progress use the rest. */
const ENOUGH_MEMORY_BYTES = 1024 ** 3;

/** Node.js raises the soft limit to the hard one at its start, so this is the effective limit. */
function openFileLimit(): number | undefined {
  try {
    const line = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return line === undefined ? undefined : Number(line);
  } catch {
    return undefined;
  }
}

/**
 * How many connections the servers can hold while the database can still open its files, those that begin and the explorer's
 * included; undefined when the limits cannot be read. Must be called when everything but the servers and these threads is open. The
 * one for the index by address reads its program while there are connections already.
 */
export function connectionLimit(
  limits: HostLimits,
  { callers, visitors, indexers }: ChainReaders,
): number | undefined {
  const { openFiles } = limits;
  const open = countOpenFiles();
  if (openFiles === undefined || open === undefined) return undefined;
  const spares = callers > 0 ? CALLER_SERVERS.length * 2 * spareDescriptors(limits) : 0;
  const ofThreads =
    (callers + visitors + indexers) * THREAD_OPEN_FILES + indexers * LOADING_OPEN_FILES + spares;
  const ofTables = hasEnoughFiles(limits) ? Math.floor(openFiles * LEVELDB_SHARE) : 0;
  return Math.max(FEWEST_CONNECTIONS, openFiles - open - SPARE_OPEN_FILES - ofThreads - ofTables);
}

/**
 * Descriptors for tables of the chain's database that are not mapped into memory. Half of LevelDB's share, which the index by address
 * has, too; none where files are short.
 */
export function tableDescriptors(limits: HostLimits): number {
  return hasEnoughFiles(limits) ? Math.floor(((limits.openFiles ?? 0) * LEVELDB_SHARE) / 2) : 0;
}

/**
 * Descriptors of a listening socket to keep ready for threads that take turns to accept; at most twice as many while they are
 * made. None where files are short.
 */
export function spareDescriptors({ openFiles }: HostLimits): number {
  return openFiles !== undefined && openFiles < ENOUGH_OPEN_FILES ? 0 : SPARE_DESCRIPTORS;
}

/** Whether the limit is known, and not short. */
function hasEnoughFiles({ openFiles }: HostLimits): boolean {
  return openFiles !== undefined && openFiles >= ENOUGH_OPEN_FILES;
}

/** Share of the descriptors that LevelDB keeps at most for tables, those of all its databases together. */
const LEVELDB_SHARE = 1 / 5;

const SPARE_DESCRIPTORS = 32;
/** Open files of a thread: its event loop, and its sockets. */
const THREAD_OPEN_FILES = 10;

/** Open files of a thread that reads its program: Node.js opens what a module imports all at once, some 90 files. */
const LOADING_OPEN_FILES = 96;

/** Reserved for LevelDB's compactions, restarted threads, the servers themselves, and metrics. */
const SPARE_OPEN_FILES = 40;
/** Minimum that lets an operator query the node when files are short. */
const FEWEST_CONNECTIONS = 4;

/** Open files and connections of this process; undefined where the system does not tell. */
export function countOpenFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
