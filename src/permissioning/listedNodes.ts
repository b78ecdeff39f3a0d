import type { Metrics } from "../observability/registry.ts";
import { equalBytes } from "../primitives/hex.ts";
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
  private nodes: readonly ListedNode[] = [];

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
  has({ nodeId, host, tcpPort }: ListedNode): boolean {
    const isListed = this.current().some(
      (one) => one.tcpPort === tcpPort && one.host === host && equalBytes(one.nodeId, nodeId),
    );
    this.counts.asked();
    this.counts.answered(isListed ? "permitted" : "denied");
    return isListed;
  }

  /** Discovery asks for each datagram, so the list is parsed only when it has changed. */
  private current(): readonly ListedNode[] {
    if (this.items !== this.list.items) {
      this.items = this.list.items;
      this.nodes = this.items.flatMap((item) => this.parse(item) ?? []);
    }
    return this.nodes;
  }
}
