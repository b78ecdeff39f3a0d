import type { Metrics } from "../observability/registry.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Allowlist } from "./allowlist.ts";
import { CheckCounts } from "./checkCounts.ts";

/** A node by its id and where it listens; a node that does not listen has no port. */
interface ListedNode {
  readonly nodeId: Uint8Array;
  readonly host: string;
  readonly tcpPort: number | undefined;
}

/**
 * The list of permitted nodes as connections and datagrams ask it: by id, address and listening port, but not the discovery
 * port (p2p.md#connection-policy).
 */
export class ListedNodes {
  private readonly list: Pick<Allowlist, "items">;
  private readonly parse: (item: string) => ListedNode | undefined;
  private readonly counts: CheckCounts;
  private items: readonly string[] = [];
  /** The keys of its items, by their texts. */
  private parsed: ReadonlyMap<string, string | undefined> = new Map();
  private keys: ReadonlySet<string | undefined> = new Set();

  /** `parse` reads an item of the list. */
  constructor(
    list: Pick<Allowlist, "items">,
    parse: (item: string) => ListedNode | undefined,
    metrics: Metrics | undefined,
  ) {
    this.list = list;
    this.parse = parse;
    this.counts = new CheckCounts(metrics, "node_local", "node allowlist");
  }

  /** Whether the list has the node; the question is counted. */
  has(node: ListedNode): boolean {
    const isListed = this.current().has(keyOf(node));
    this.counts.asked();
    this.counts.answered(isListed ? "permitted" : "denied");
    return isListed;
  }

  /** Discovery asks for each datagram, so only what was added to the list is parsed, and nothing is searched for. */
  private current(): ReadonlySet<string | undefined> {
    if (this.items === this.list.items) return this.keys;
    this.items = this.list.items;
    this.parsed = new Map(
      this.items.map((item) => [item, this.parsed.has(item) ? this.parsed.get(item) : this.parseKey(item)]),
    );
    this.keys = new Set(this.parsed.values());
    return this.keys;
  }

  private parseKey(item: string): string | undefined {
    const node = this.parse(item);
    return node && keyOf(node);
  }
}

function keyOf({ nodeId, host, tcpPort }: ListedNode): string {
  return `${toKey(nodeId)} ${host} ${tcpPort}`;
}
