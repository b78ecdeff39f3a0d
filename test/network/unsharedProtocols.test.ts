import { describe, expect, it } from "vitest";
import { type Capability, encodeHello, ownHello } from "../../src/network/rlpx/hello.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { identity } from "./identities.ts";
import { closeAfterEach, createToy, startToy, until } from "./toyNetwork.ts";
import { connectUntrusted } from "./untrustedPeer.ts";

describe("a peer that shares no version of an expected protocol", () => {
  closeAfterEach();

  it.each<readonly [what: string, capabilities: readonly Capability[], offered: string, isKept: boolean]>([
    [
      "but another protocol is named in the log, and stays",
      [
        { name: "toy", version: 1 },
        { name: "eth", version: 62 },
        { name: "eth", version: 63 },
      ],
      "62, 63",
      true,
    ],
    ["nor anything else is named in the log, and refused", [{ name: "les", version: 4 }], "none", false],
  ])("%s, once", async (_, capabilities, offered, isKept) => {
    const { logger, lines } = loggedLines();
    const node = await startToy(1, {
      protocols: [{ ...createToy("eth"), version: 66, isExpected: true }, createToy("toy")],
      logger,
    });
    const own = identity(2);
    const unshared = (): readonly unknown[] =>
      lines.filter(({ message }) => message === "peer shares no version of eth with this node");
    for (let count = 1; count <= 2; count++) {
      const peer = connectUntrusted(node, own);
      await peer.open(
        encodeHello(ownHello({ clientId: "older", capabilities, listenPort: 0, nodeId: own.nodeId })),
      );
      if (isKept) {
        await until(() => node.network.peerCount === 1);
        peer.socket.destroy();
        await until(() => node.network.peerCount === 0);
        // The second time it is refused before its protocols are compared.
      } else expect(await peer.disconnected).toBe(count === 1 ? "uselessPeer" : "unknown");
      expect(unshared()).toMatchObject([{ level: "INFO", client: "older", offered, supported: "66" }]);
    }
  });

  it("does not mean a peer that shares an older version", async () => {
    const { logger, lines } = loggedLines();
    const versions = [66, 67, 68].map((version) => ({ ...createToy("eth"), version, isExpected: true }));
    const node = await startToy(3, { protocols: versions, logger });
    await startToy(4, { protocols: versions.slice(0, 1), maintained: [node.address] });
    await until(() => node.network.peerCount === 1);
    expect(lines.filter(({ message }) => message.includes("shares no version"))).toEqual([]);
  });
});
