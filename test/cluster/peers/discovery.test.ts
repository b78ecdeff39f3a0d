import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  type NodeProcess,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const GENESIS = resolve(import.meta.dirname, "..", "..", "..", "genesis", "dev.json");
/** Nodes beside the bootnode, each of which has to find all others; IBEX_DISCOVERED_NODES asks for more. */
const COUNT = Number(process.env["IBEX_DISCOVERED_NODES"] ?? 9);

describe("nodes that are told of one bootnode alone", () => {
  // test/network/discovery/discovery.test.ts does it daily, over a simulated network.
  itIfThorough(
    "connect with each other, stay connected without it, and find each other again after a restart",
    async () => {
      const bootnode = await fullNode(temporaryFolder(), await freePort(), []);
      const { enode } = await bootnode.rpc<{ readonly enode: string }>("admin_nodeInfo");
      const places = await Promise.all(
        Array.from({ length: COUNT }, async () => ({ folder: temporaryFolder(), port: await freePort() })),
      );
      const named = [`--bootnodes=${enode}`];
      const nodes = await Promise.all(places.map(({ folder, port }) => fullNode(folder, port, named)));
      await untilPeers(nodes, COUNT);
      // Callers, too, are named with their discovery ports.
      const urls = await Promise.all([bootnode, ...nodes].map((node) => node.rpc<string>("net_enode")));
      await expect
        .poll(async () =>
          (await nodes[0]?.rpc<readonly { enode: string }[]>("admin_peers"))
            ?.map((peer) => peer.enode)
            .sort(),
        )
        .toEqual(urls.filter((url) => url !== urls[1]).sort());
      const { ports } = await bootnode.rpc<{ readonly ports: unknown }>("admin_nodeInfo");
      const port = Number(new URL(enode).port);
      expect(ports).toEqual({ discovery: port, listener: port });
      expect(enode).not.toContain("discport");

      await bootnode.kill();
      await untilPeers(nodes, COUNT - 1);
      for (const node of nodes) expect(await node.stop()).toBe(0);
      expect(nodes.every(({ dataPath }) => existsSync(join(dataPath, "known-nodes.json")))).toBe(true);

      const again = await Promise.all(places.map((place) => fullNode(place.folder, place.port, named)));
      await untilPeers(again, COUNT - 1);
      for (const node of again) expect(await node.stop()).toBe(0);
    },
  );
});

describe("a bootnode that is named by its host name", () => {
  itIfThorough("leads to other nodes", async () => {
    const bootnode = await fullNode(temporaryFolder(), await freePort(), []);
    const { enode } = await bootnode.rpc<{ readonly enode: string }>("admin_nodeInfo");
    const named = [`--bootnodes=${enode.replace("127.0.0.1", "localhost")}`, "--Xdns-enabled"];
    const first = await fullNode(temporaryFolder(), await freePort(), named);
    const second = await fullNode(temporaryFolder(), await freePort(), named);
    await untilPeers([bootnode, first, second], 2);
    for (const node of [bootnode, first, second]) expect(await node.stop()).toBe(0);
  });
});

describe("a node with discovery off", () => {
  it("shows that others cannot find it, and leaves the UDP port alone", async () => {
    const port = await freePort();
    const node = await fullNode(temporaryFolder(), port, ["--discovery-enabled=false"]);
    const { enode, ports } = await node.rpc<{ readonly enode: string; readonly ports: unknown }>(
      "admin_nodeInfo",
    );
    expect(enode).toMatch(/\?discport=0$/);
    expect(ports).toEqual({ listener: port });
    expect(readFileSync(join(node.dataPath, "besu.ports"), "utf8")).not.toContain("discovery=");
    expect(await node.stop()).toBe(0);
  });
});

function fullNode(dataPath: string, port: number, options: readonly string[]): Promise<NodeProcess> {
  return startNodeProcess({
    dataPath,
    options: [
      `--genesis-file=${GENESIS}`,
      "--p2p-enabled=true",
      `--p2p-port=${port}`,
      "--rpc-http-enabled",
      "--rpc-http-api=ADMIN,NET,ETH",
      ...options,
    ],
  });
}

async function untilPeers(nodes: readonly NodeProcess[], count: number): Promise<void> {
  for (const node of nodes)
    await until(
      async () => (Number(await node.rpc<string>("net_peerCount")) >= count ? true : undefined),
      `${count} peers`,
    );
}
