import type { ForkId } from "../../chainspec/forkId.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { Delays } from "./delays.ts";
import { readEntry, readRoot, type TreeErrorCode, type TreeRoot } from "./dnsEntries.ts";
import type { NodeRecord } from "./nodeRecord.ts";
import type { NodeContact } from "./packets.ts";
import type { TreeUrl } from "./treeUrl.ts";

/** A name server. A text is one TXT record, its pieces joined; a query without an answer rejects. */
export interface NameServer {
  texts(name: string): Promise<readonly string[]>;
  /** Stops answering queries. */
  close(): void;
}

export interface DnsListsParts {
  readonly server: NameServer;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  /** Whether the node needs more connections, so that reading continues. */
  readonly wantsPeers: () => boolean;
  /** Whether a node with this fork id may be on our chain. */
  readonly isCompatible: (forkId: ForkId) => boolean;
  readonly onNode: (node: NodeContact) => void;
  readonly logger: Logger;
}

const READ_MS = 30 * 60_000;
/** Longest time for which one list is read before the others have their turn. */
const MAX_READ_MS = 10 * 60_000;
/** Pause between two requests, and between two offered nodes. */
const STEP_MS = 100;
const ANSWER_MS = 10_000;
/** Consecutive failures after which a list is left until the next time. */
const MAX_FAILURES = 5;
/** Most lists: the named one, and those that it links to. */
const MAX_LISTS = 8;
const MAX_DEPTH = 8;
/** Most entries of one list known at a time, read or not: 4096 take 7 minutes. */
const MAX_ENTRIES = 4096;
/** Most texts at one name that are considered. */
const MAX_TEXTS = 16;

interface Entry {
  readonly hash: string;
  readonly depth: number;
}

interface List {
  readonly domain: string;
  readonly publicKey: Uint8Array;
  /** The root; undefined until it has been read. */
  root: TreeRoot | undefined;
  /** Entries that are not read yet. */
  readonly unread: Entry[];
  /** Hashes of all named entries of this root, so that none is read twice. */
  readonly named: Set<string>;
  readonly nodes: NodeContact[];
  /** Reasons that were logged. */
  readonly logged: Set<string>;
}

/**
 * Finds nodes in signed lists in DNS (EIP-1459, p2p.md#lists-of-nodes-in-dns): a tree of entries, each named by its hash,
 * under a root that the list's owner signs.
 *
 * Only as much of a list is read as is needed for enough peers. Entries are read in random order, so that not all nodes
 * contact the same ones. Invariants: one request at a time, at a bounded rate; whatever a list contains, the memory and the
 * requests for it are bounded; an error is logged once for each list and reason.
 */
export class DnsLists {
  private readonly parts: DnsListsParts;
  private readonly lists: List[] = [];
  private readonly delays: Delays;
  private isClosed = false;

  /** Begins to read the list. */
  constructor(tree: TreeUrl, parts: DnsListsParts) {
    this.parts = parts;
    this.delays = new Delays(parts.clock);
    this.add(tree);
    void this.follow();
  }

  close(): void {
    this.isClosed = true;
    this.delays.close();
    this.parts.server.close();
  }

  private async follow(): Promise<void> {
    while (!this.isClosed) {
      // New links are appended meanwhile.
      for (const list of this.lists) if (!this.isClosed) await this.read(list);
      await this.delays.wait(READ_MS);
    }
  }

  private async read(list: List): Promise<void> {
    if (!this.parts.wantsPeers()) return;
    const isComplete = list.root !== undefined && list.unread.length === 0;
    if (!(await this.readRoot(list)) && isComplete) await this.offerAgain(list);
    await this.readEntries(list);
  }

  /** Reads the root; returns whether the list has changed. */
  private async readRoot(list: List): Promise<boolean> {
    const texts = await this.ask(list, list.domain);
    if (texts === undefined) return false;
    const root = readRoot(texts, list.publicKey);
    if (!root.ok) {
      this.warnOnce(list, root.error.code, root.error.message);
      return false;
    }
    const known = list.root?.sequence;
    if (known !== undefined && root.value.sequence <= known) {
      if (root.value.sequence < known)
        this.warnOnce(list, "oldRoot", "the root is older than the one before");
      return false;
    }
    list.root = root.value;
    list.named.clear();
    list.unread.length = 0;
    list.nodes.length = 0;
    this.enqueue(list, { hash: root.value.links, depth: 0 });
    this.enqueue(list, { hash: root.value.nodes, depth: 0 });
    return true;
  }

  private async readEntries(list: List): Promise<void> {
    const { clock, wantsPeers } = this.parts;
    const untilMs = clock.nowMs() + MAX_READ_MS;
    let failures = 0;
    while (list.unread.length > 0 && failures < MAX_FAILURES && clock.nowMs() < untilMs && wantsPeers()) {
      if (this.isClosed) return;
      const entry = this.takeAny(list.unread);
      const texts = await this.ask(list, `${entry.hash}.${list.domain}`);
      if (texts === undefined) {
        list.unread.push(entry);
        failures++;
      } else {
        failures = this.readEntry(list, entry, texts) ? 0 : failures + 1;
      }
    }
  }

  private readEntry(list: List, { hash, depth }: Entry, texts: readonly string[]): boolean {
    const entry = readEntry(texts, hash);
    if (!entry.ok) {
      this.warnOnce(list, entry.error.code, entry.error.message);
      return false;
    }
    if (entry.value.kind === "branch") {
      for (const child of entry.value.children) this.enqueue(list, { hash: child, depth: depth + 1 });
    } else if (entry.value.kind === "link") {
      this.add(entry.value.tree);
    } else {
      this.acceptRecord(list, entry.value.record);
    }
    return true;
  }

  private acceptRecord(list: List, { nodeId, endpoint, forkId }: NodeRecord): void {
    if (endpoint === undefined || endpoint.udpPort === 0) return;
    if (forkId !== undefined && !this.parts.isCompatible(forkId)) return;
    const node = { nodeId, ...endpoint };
    list.nodes.push(node);
    this.parts.onNode(node);
  }

  /** Offers the nodes again: those that did not answer, or were lost, may answer now. */
  private async offerAgain({ nodes }: List): Promise<void> {
    const left = [...nodes];
    while (left.length > 0 && !this.isClosed && this.parts.wantsPeers()) {
      this.parts.onNode(this.takeAny(left));
      await this.delays.wait(STEP_MS);
    }
  }

  private add({ domain, publicKey }: TreeUrl): void {
    if (this.lists.length >= MAX_LISTS || this.lists.some((list) => list.domain === domain)) return;
    this.lists.push({
      domain,
      publicKey,
      root: undefined,
      unread: [],
      named: new Set(),
      nodes: [],
      logged: new Set(),
    });
  }

  private enqueue(list: List, entry: Entry): void {
    if (list.named.has(entry.hash)) return;
    if (list.named.size >= MAX_ENTRIES || entry.depth > MAX_DEPTH) {
      this.warnOnce(list, "tooLarge", "the list has more entries, or more levels, than are read");
      return;
    }
    list.named.add(entry.hash);
    list.unread.push(entry);
  }

  /** The texts at a name; undefined when no answer came in time. */
  private async ask(list: List, name: string): Promise<readonly string[] | undefined> {
    await this.delays.wait(STEP_MS);
    try {
      const texts = await Promise.race([this.parts.server.texts(name), this.delays.wait(ANSWER_MS)]);
      if (texts !== undefined) return texts.slice(0, MAX_TEXTS);
      this.warnOnce(list, "noAnswer", "the name server does not answer");
    } catch (error) {
      if (!this.isClosed) this.warnOnce(list, "noAnswer", messageOf(error));
    }
    return undefined;
  }

  private warnOnce(
    { domain, logged }: List,
    code: TreeErrorCode | "oldRoot" | "tooLarge" | "noAnswer",
    reason: string,
  ): void {
    if (logged.has(code)) return;
    logged.add(code);
    this.parts.logger.warn({ list: domain, reason }, "a list of nodes in DNS cannot be read, or not in full");
  }

  private takeAny<T>(items: T[]): T {
    const at = Math.min(Math.floor(this.parts.chance() * items.length), items.length - 1);
    const [taken] = items.splice(at, 1);
    if (taken === undefined) throw new RangeError("nothing to take");
    return taken;
  }
}
