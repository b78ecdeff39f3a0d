import type { Clock, Timer } from "../../primitives/clock.ts";
import type { NodeContact } from "./packets.ts";

/** A node given by a host name, as --Xdns-enabled allows. */
export interface NamedNode extends Omit<NodeContact, "ip"> {
  readonly host: string;
}

interface NamedNodesParts {
  readonly clock: Clock;
  /** The IP address of a host name; undefined when it has none, or no name server answers. */
  readonly resolve: (host: string) => Promise<string | undefined>;
  readonly onNode: (node: NodeContact) => void;
}

/** Interval of resolution: a name may get another address, and a lost node is found again. */
const RESOLVE_AGAIN_MS = 60_000;

/** Resolves the names now and every minute, one after the other, and passes on the addresses of the nodes. */
export function followNamedNodes(
  nodes: readonly NamedNode[],
  { clock, resolve, onNode }: NamedNodesParts,
): { close(): void } {
  let isClosed = false;
  let timer: Timer | undefined;

  async function resolveAll(): Promise<void> {
    for (const { host, ...node } of nodes) {
      const ip = await resolve(host);
      if (isClosed) return;
      if (ip !== undefined) onNode({ ...node, ip });
    }
    timer = clock.at(clock.nowMs() + RESOLVE_AGAIN_MS, () => void resolveAll());
  }

  if (nodes.length > 0) void resolveAll();
  return {
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}
