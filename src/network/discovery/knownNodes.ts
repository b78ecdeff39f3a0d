import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Clock } from "../../primitives/clock.ts";
import { parseHex, toHex } from "../../primitives/hex.ts";
import { writeWhole } from "../../primitives/wholeFile.ts";
import type { NodeContact } from "./packets.ts";

export interface KnownNode extends NodeContact {
  /** Whether a connection with the node has lasted. */
  readonly isProven: boolean;
}

/** Most nodes in the file: more than the table of a small network holds; this many are pinged at the next start. */
const MAX_KNOWN_NODES = 64;

/**
 * A file with nodes of this run, so that the next one finds its peers when no bootnode answers (data-folder.md#files).
 * Everything in it can be found again: a file that is missing or damaged counts as empty, and one that cannot be written is
 * left as it is.
 */
export class KnownNodesFile {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  read(): readonly KnownNode[] {
    try {
      const document: unknown = JSON.parse(readFileSync(this.path, "utf8"));
      const items: readonly unknown[] = Array.isArray(document) ? document : [];
      return items.slice(0, MAX_KNOWN_NODES).flatMap((item) => contactOf(item) ?? []);
    } catch {
      return [];
    }
  }

  /** Replaces the file; the first nodes have precedence. Returns false when it cannot be written. */
  write(nodes: readonly KnownNode[]): boolean {
    const items = nodes.slice(0, MAX_KNOWN_NODES).map(({ nodeId, ...endpoint }) => ({
      nodeId: toHex(nodeId),
      ...endpoint,
    }));
    try {
      writeWhole(this.path, `${JSON.stringify(items, undefined, 1)}\n`);
      return true;
    } catch {
      return false;
    }
  }
}

/** Writes the nodes every few minutes, and on close, unless there are none. */
export function keepKnownNodes(
  file: KnownNodesFile,
  { nodes, clock }: { readonly nodes: () => readonly KnownNode[]; readonly clock: Clock },
): { close(): void } {
  let timer = clock.at(clock.nowMs() + SAVE_MS, saveAgain);
  function save(): void {
    const found = nodes();
    if (found.length > 0) file.write(found);
  }
  function saveAgain(): void {
    save();
    timer = clock.at(clock.nowMs() + SAVE_MS, saveAgain);
  }
  return {
    close() {
      timer.cancel();
      save();
    },
  };
}

const SAVE_MS = 5 * 60_000;

function contactOf(item: unknown): KnownNode | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { nodeId, ip, udpPort, tcpPort, isProven } = item as Readonly<Record<string, unknown>>;
  const id = typeof nodeId === "string" ? parseHex(nodeId) : undefined;
  if (id?.length !== 64 || typeof ip !== "string" || isIP(ip) === 0) return undefined;
  return isPort(udpPort) && isPort(tcpPort)
    ? { nodeId: id, ip, udpPort, tcpPort, isProven: isProven === true }
    : undefined;
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 65_535;
}
