import { describe, expect, it } from "vitest";
import type { NodeEndpoint } from "../../src/permissioning/contract/nodePayload.ts";
import { NodePermissions } from "../../src/permissioning/contract/nodePermissions.ts";
import { watchFirstSync } from "../../src/sync/firstSync.ts";

type Parts = Parameters<typeof watchFirstSync>[1];

const endpoint = (digit: number): NodeEndpoint => ({
  nodeId: new Uint8Array(64).fill(digit),
  ip: Uint8Array.of(10, 0, 0, digit),
  host: `10.0.0.${digit}`,
  tcpPort: 30303,
});

/** Nodes at these heights that share their bootnodes, and a contract that permits all of them. */
function aNetwork(heights: readonly bigint[], bootnodeCount: number) {
  const bootnodes = heights.slice(0, bootnodeCount).map((_, index) => endpoint(index + 1));
  const nodes = heights.map((height, index) => {
    const own = endpoint(index + 1);
    const peers: NodeEndpoint[] = [];
    const permissions = new NodePermissions({
      contract: { permits: () => "permitted" },
      own: () => own,
      bootnodes,
      fixed: () => bootnodes,
      isListed: () => true,
      connected: () => peers.map(({ nodeId }) => nodeId),
      metrics: undefined,
    });
    let greeted = (): void => undefined;
    let heads = 0;
    watchFirstSync(permissions, {
      chain: {
        genesis: { header: { difficulty: 1n } },
        head: { header: { number: height } },
        onHeadChanged: () => () => undefined,
      } as unknown as Parts["chain"],
      network: { peers, review: () => undefined } as unknown as Parts["network"],
      sync: { isInSync: true, onStatusChanged: () => undefined },
      eth: {
        announcedBy(nodeId) {
          heads++;
          return { totalDifficulty: 1n + (heights[(nodeId[0] ?? 0) - 1] ?? 0n) };
        },
        onPeersChanged(listener) {
          greeted = listener;
        },
      },
    });
    return { own, peers, permissions, greeted: () => greeted(), heads: () => heads };
  });
  return nodes;
}

/** Lets each node call each other one until no further connection is permitted by both ends. */
function connectAll(nodes: ReturnType<typeof aNetwork>): void {
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const caller of nodes)
      for (const called of nodes) {
        if (caller === called || caller.peers.includes(called.own)) continue;
        const permitted =
          caller.permissions.judge(called.own, "outbound", "newcomer") === "permitted" &&
          called.permissions.judge(caller.own, "inbound", "newcomer") === "permitted";
        if (!permitted) continue;
        isChanged = true;
        caller.peers.push(called.own);
        called.peers.push(caller.own);
        caller.greeted();
        called.greeted();
      }
  }
}

describe("validators that ask a contract of nodes and start at once", () => {
  it.each([
    ["one bootnode", 1, [0n, 0n, 0n, 0n]],
    ["two bootnodes", 2, [0n, 0n, 0n, 0n]],
    ["one bootnode, on a chain that stands", 1, [70n, 70n, 70n, 70n]],
    ["two bootnodes, one of which has fewer blocks", 2, [69n, 70n, 70n, 70n]],
  ] as const)("are all connected, with %s", (_, bootnodeCount, heights) => {
    const nodes = aNetwork(heights, bootnodeCount);
    connectAll(nodes);
    const most = Math.max(...heights.map(Number));
    for (const [index, { peers, permissions }] of nodes.entries()) {
      expect(permissions.hasReachedSync).toBe(Number(heights[index]) === most);
      if (permissions.hasReachedSync) expect(peers).toHaveLength(3);
    }
  });

  it("and make blocks alone have their connections judged anew", () => {
    let headChanged: (change: object) => void = () => undefined;
    let reviews = 0;
    let isReached = false;
    watchFirstSync(
      {
        get hasReachedSync() {
          return isReached;
        },
        noteInSync() {
          isReached = true;
        },
      },
      {
        chain: {
          genesis: { header: { difficulty: 1n } },
          head: { header: { number: 1n } },
          onHeadChanged: (_: string, listener: typeof headChanged) => {
            headChanged = listener;
            return () => undefined;
          },
        } as unknown as Parts["chain"],
        network: { peers: [], review: () => reviews++ } as unknown as Parts["network"],
        sync: { isInSync: true, onStatusChanged: () => undefined },
        eth: { announcedBy: () => undefined, onPeersChanged: () => undefined },
      },
    );
    headChanged({ added: [{}] });
    headChanged({ added: [{}] });
    expect([isReached, reviews]).toEqual([true, 1]);
  });

  it("compare heights no more, once they were in sync", () => {
    const nodes = aNetwork([0n, 0n, 0n, 0n], 1);
    connectAll(nodes);
    const before = nodes.map(({ heads }) => heads());
    for (const { greeted } of nodes) greeted();
    expect(nodes.map(({ heads }) => heads())).toEqual(before);
  });
});
