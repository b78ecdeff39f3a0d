import { afterEach, beforeEach, expect, it } from "vitest";
import { startNode } from "../../src/node/node.ts";
import type { RunningNode } from "../../src/node/runningNode.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { EthstatsServer } from "../ethstats/ethstatsServer.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { settingsOf } from "./settingsOf.ts";

let server: EthstatsServer;
let node: RunningNode | undefined;

beforeEach(() => {
  server = new EthstatsServer();
});

afterEach(async () => {
  await node?.stop();
  await server.close();
});

it("a node reports to the ethstats server that --ethstats names, and leaves with its stop", async () => {
  const port = await server.listen();
  const folder = temporaryFolder();
  const { logger, lines } = loggedLines("ALL");
  const settings = settingsOf(folder, {
    "data-path": folder,
    "rpc-http-port": "0",
    "rpc-ws-port": "0",
    "rpc-threads": "1",
    "explorer-enabled": "false",
    ethstats: `ws://my-node:${server.secret}@127.0.0.1:${port}`,
    "ethstats-contact": "me@example.org",
  });
  const started = await startNode(settings, logger);
  if (!started.ok) throw new Error(started.error.message);
  node = started.value;
  await server.until(() => server.named("stats").length > 0 && server.named("latency").length > 0);
  expect(server.named("hello")[0]).toMatchObject({
    id: expect.stringMatching(/^0x[0-9a-f]{128}$/),
    info: {
      name: "my-node",
      net: "1337",
      node: expect.stringMatching(/^ibex\//),
      protocol: expect.stringMatching(/^\[eth\/.*\]$/),
      contact: "me@example.org",
    },
  });
  expect(server.named("block")[0]).toMatchObject({ block: { number: expect.any(Number), uncles: [] } });
  expect(server.named("pending")[0]).toMatchObject({ stats: { pending: 0 } });
  expect(server.named("stats")[0]).toMatchObject({ stats: { active: true, syncing: false, peers: 0 } });
  await node.stop();
  node = undefined;
  await server.until(() => server.socket?.readyState === 3);
  expect(lines.length).toBeGreaterThan(5);
  expect(JSON.stringify(lines)).not.toContain(server.secret);
});
