import { describe, expect, it } from "vitest";
import type { Enode } from "../../../src/config/enode.ts";
import { NamedPeers } from "../../../src/node/peers/namedPeers.ts";

function aNode(id: number, host = `10.0.0.${id}`): Enode {
  return { nodeId: new Uint8Array(64).fill(id), host, tcpPort: 30303, udpPort: undefined };
}

/** A network that notes whom it dials from now on, and whom no more. */
function aNetwork() {
  const calls: string[] = [];
  return {
    calls,
    addPeer({ host }: { readonly host: string }) {
      calls.push(`add ${host}`);
      return true;
    },
    stopMaintaining: (nodeId: Uint8Array) => calls.push(`stop ${nodeId[0]}`) > 0,
  };
}

describe("named peers that are replaced", () => {
  it("dial those that are new, and let go of those that are no longer named", () => {
    const peers = new NamedPeers([aNode(1), aNode(2)]);
    const network = aNetwork();
    expect(peers.replace([aNode(2), aNode(3)], network)).toEqual(["static nodes: 1 added, 1 removed"]);
    expect(network.calls).toEqual(["stop 1", "add 10.0.0.3"]);
    expect(peers.nodes).toEqual([aNode(2), aNode(3)]);
  });

  it("keep one whose other URL goes", () => {
    const peers = new NamedPeers([aNode(1), aNode(1, "node.example")]);
    const network = aNetwork();
    expect(peers.replace([aNode(1)], network)).toEqual(["static nodes: 0 added, 1 removed"]);
    expect(network.calls).toEqual(["stop 1", "add 10.0.0.1"]);
  });

  it("say nothing when they are the same, or only one that does not listen was dialed", () => {
    const silent = { ...aNode(2), tcpPort: undefined };
    const peers = new NamedPeers([aNode(1)]);
    const network = aNetwork();
    expect(peers.replace([aNode(1)], network)).toEqual([]);
    peers.replace([aNode(1), silent], network);
    expect(network.calls).toEqual([]);
  });
});
