import { rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { account } from "../../builders/testAccounts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import {
  freePort,
  type LogLine,
  logOf,
  type NodeProcess,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const ADDRESSES = [0, 1, 2].map((who) => toHex(account(who).address));
const UNCHANGED = "the configuration was reread; nothing changes";

/** A sole validator whose options are in a file. */
async function startFromFile(lines: readonly string[] = []) {
  const folder = temporaryFolder();
  const file = join(folder, "node.toml");
  const fixed = [
    `genesis-file=${JSON.stringify(DEV_GENESIS_FILE)}`,
    `node-private-key-file=${JSON.stringify(DEV_VALIDATOR_KEY_FILE)}`,
    "rpc-http-enabled=true",
    'rpc-http-api=["ETH","NET","PERM","MINER","ADMIN"]',
    "p2p-port=0",
    'p2p-interface="127.0.0.1"',
    "discovery-enabled=false",
    "permissions-accounts-config-file-enabled=true",
  ];
  const keyOf = (line: string): string | undefined => line.split("=")[0];
  const configure = (...more: readonly string[]): void => {
    const others = fixed.filter((line) => !more.some((own) => keyOf(own) === keyOf(line)));
    writeFileSync(file, [...others, ...more].join("\n"));
  };
  const permit = (...accounts: readonly string[]): void =>
    writeFileSync(join(folder, "permissions_config.toml"), `accounts-allowlist=${JSON.stringify(accounts)}`);
  configure(...lines);
  permit(...ADDRESSES.slice(0, 1));
  const node = await startNodeProcess({ dataPath: folder, options: [`--config-file=${file}`] });
  return { node, folder, configure, permit };
}

function toldBy(node: NodeProcess): readonly LogLine[] {
  return logOf(node).filter(({ message }) => /\breread\b|next start/.test(message));
}

/** Sends SIGHUP and waits for a line about it. */
async function hangUp(node: NodeProcess): Promise<LogLine> {
  const { length } = toldBy(node);
  node.child.kill("SIGHUP");
  return until(async () => toldBy(node)[length], "an answer to SIGHUP");
}

async function nextBlock(node: NodeProcess): Promise<void> {
  const before = await node.rpc<string>("eth_blockNumber");
  await until(
    async () => (BigInt(await node.rpc<string>("eth_blockNumber")) > BigInt(before) ? true : undefined),
    "another block",
  );
}

describe.runIf(IS_THOROUGH)("SIGHUP", () => {
  it("takes over permissions, log levels and settings of blocks; tells the rest; and blocks go on", async () => {
    const { node, configure, permit } = await startFromFile(["min-gas-price=7"]);
    expect(await hangUp(node)).toMatchObject({ level: "INFO", message: UNCHANGED, changed: [] });
    permit(...ADDRESSES);
    await node.rpc("miner_setMinGasPrice", ["0x9"]);
    configure(
      "min-gas-price=8",
      'miner-extra-data="0x1b"',
      "target-gas-limit=30000000",
      'logging-modules=["rpc=DEBUG"]',
      "max-peers=3",
    );
    const line = await hangUp(node);
    expect(line).toMatchObject({ level: "INFO", message: "the configuration was reread" });
    expect(line["changed"]).toEqual([
      "logging of rpc=DEBUG (was INFO)",
      "accounts-allowlist: 2 added, 0 removed",
      "min-gas-price=8 (was 9)",
      "miner-extra-data=0x1b (was 0x)",
      "target-gas-limit=30000000 (was none)",
    ]);
    await until(async () => toldBy(node).find(({ level }) => level === "WARN"), "a warning of a restart");
    expect(toldBy(node).at(-1)).toMatchObject({
      message: expect.stringMatching(/^--max-peers, now given as max-peers in .*line 13, takes effect/),
    });
    expect(await node.rpc("perm_getAccountsAllowlist")).toEqual(ADDRESSES);
    expect(await node.rpc("miner_getMinGasPrice")).toBe("0x8");
    await nextBlock(node);
    await nextBlock(node);
    expect(await node.rpc("eth_getBlockByNumber", ["latest", false])).toMatchObject({
      extraData: expect.stringMatching(/^0xf8..a00{62}1b/),
    });
    expect(await node.stop()).toBe(0);
  });

  it("changes nothing when a file is broken, and says which", async () => {
    const { node, folder, configure, permit } = await startFromFile();
    permit(...ADDRESSES);
    writeFileSync(join(folder, "static-nodes.json"), "[,");
    configure("min-gas-price=8");
    const refused = "the configuration cannot be reread; nothing changes";
    expect(await hangUp(node)).toMatchObject({
      level: "WARN",
      message: expect.stringMatching(new RegExp(`^${refused}: .*static-nodes.json cannot be used`)),
    });
    rmSync(join(folder, "static-nodes.json"));
    permit("0x12");
    expect(await hangUp(node)).toMatchObject({ message: expect.stringContaining("Invalid account 0x12") });
    expect(await node.rpc("perm_getAccountsAllowlist")).toEqual(ADDRESSES.slice(0, 1));
    expect(await node.rpc("miner_getMinGasPrice")).toBe("0x3e8");
    permit(...ADDRESSES);
    expect(await hangUp(node)).toMatchObject({ message: "the configuration was reread" });
    expect(await node.rpc("miner_getMinGasPrice")).toBe("0x8");
    await nextBlock(node);
    expect(await node.stop()).toBe(0);
  });

  it("fifty times in a row is done a few times, and the validator goes on", async () => {
    const { node, permit } = await startFromFile();
    permit(...ADDRESSES);
    for (let count = 0; count < 50; count++) node.child.kill("SIGHUP");
    await until(async () => toldBy(node)[0], "an answer to SIGHUP");
    for (let count = 0; count < 3; count++) await nextBlock(node);
    expect(await node.rpc("perm_getAccountsAllowlist")).toEqual(ADDRESSES);
    // The first, and those that came within its second.
    expect(toldBy(node).length).toBeLessThanOrEqual(2);
    expect(await node.stop()).toBe(0);
  });

  it("changes which methods are answered, and under which names of this host", async () => {
    const { node, configure } = await startFromFile();
    // fetch sets Host by itself.
    const statusAs = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const asked = request(node.httpUrl, { method: "POST", headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asked.once("error", reject);
        asked.end('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
      });
    expect(await statusAs("node.example")).toBe(403);
    await expect(node.rpc("web3_clientVersion")).rejects.toThrow("Method not enabled");
    configure('host-allowlist=["127.0.0.1","node.example"]', 'rpc-http-api=["WEB3"]');
    expect((await hangUp(node))["changed"]).toEqual([
      "host-allowlist=127.0.0.1,node.example (was localhost,127.0.0.1)",
      "rpc-http-api=WEB3 (was ETH,NET,PERM,MINER,ADMIN)",
    ]);
    expect(await node.rpc("web3_clientVersion")).toMatch(/^ibex/);
    await expect(node.rpc("eth_chainId")).rejects.toThrow("Method not enabled");
    expect(await statusAs("node.example")).toBe(200);
    expect(await statusAs("localhost")).toBe(403);
    configure();
    await hangUp(node);
    expect(await statusAs("node.example")).toBe(403);
    expect(await statusAs("localhost")).toBe(200);
    expect(await node.stop()).toBe(0);
  });

  it("connects new static nodes, and keeps the connection with those that are not named any more", async () => {
    const other = await startNodeProcess({
      options: [
        `--genesis-file=${DEV_GENESIS_FILE}`,
        "--rpc-http-enabled",
        `--p2p-port=${await freePort()}`,
        "--p2p-interface=127.0.0.1",
        "--discovery-enabled=false",
        "--rpc-http-api=ETH,NET,ADMIN",
      ],
    });
    const { node, folder } = await startFromFile();
    const { enode } = await other.rpc<{ enode: string }>("admin_nodeInfo");
    const staticNodes = join(folder, "static-nodes.json");
    writeFileSync(staticNodes, JSON.stringify([enode]));
    expect((await hangUp(node))["changed"]).toEqual(["static nodes: 1 added, 0 removed"]);
    const peers = (): Promise<string> => node.rpc<string>("net_peerCount");
    await until(async () => ((await peers()) === "0x1" ? true : undefined), "a peer");
    rmSync(staticNodes);
    expect((await hangUp(node))["changed"]).toEqual(["static nodes: 0 added, 1 removed"]);
    expect(await peers()).toBe("0x1");
    // It is not redialed: admin_removePeer does not know it.
    expect(await node.rpc("admin_removePeer", [enode])).toBe(false);
    expect(await other.stop()).toBe(0);
    expect(await node.stop()).toBe(0);
  });
});
