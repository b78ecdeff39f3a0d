import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DEV_CANCUN_GENESIS_FILE, DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { startNode } from "../../src/node/node.ts";
import type { RunningNode } from "../../src/node/runningNode.ts";
import { type RootLogger, silentLogger } from "../../src/observability/logger.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough, someOf } from "../thorough.ts";
import { settingsOf } from "./settingsOf.ts";

let folder: string;
let lines: string[];
let logger: RootLogger;

beforeEach(() => {
  folder = temporaryFolder();
  lines = [];
  logger = {
    ...silentLogger,
    warn: (_, message) => void lines.push(message),
    child: () => logger,
  };
});

function start(options: Readonly<Record<string, string>> = {}) {
  const own = { "data-path": folder, "rpc-http-port": "0", "rpc-ws-port": "0", "rpc-threads": "2" };
  return startNode(settingsOf(folder, { ...own, "explorer-enabled": "false", ...options }), logger);
}

interface Started {
  readonly node: RunningNode;
  ask(method: string, ...params: readonly unknown[]): Promise<unknown>;
  askFrom(origin: string, method: string): Promise<unknown>;
}

async function started(options: Readonly<Record<string, string>> = {}): Promise<Started> {
  const node = await start(options);
  if (!node.ok) throw new Error(node.error.message);
  onTestFinished(() => node.value.stop());
  const { http } = node.value.endpoints;
  if (http === undefined || !("port" in http)) throw new Error("HTTP is on");
  const send = async (
    headers: Readonly<Record<string, string>>,
    method: string,
    params: readonly unknown[],
  ) => {
    const response = await fetch(`http://127.0.0.1:${http.port}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const answer = (await response.json()) as { readonly result?: unknown; readonly error?: unknown };
    return answer.error ?? answer.result;
  };
  return {
    node: node.value,
    ask: (method, ...params) => send({}, method, params),
    askFrom: (origin, method) => send({ origin }, method, []),
  };
}

const newestTime = async ({ ask }: Started): Promise<number> => {
  const block = (await ask("eth_getBlockByNumber", "latest", false)) as { readonly timestamp: string };
  return Number(block.timestamp);
};

const CANCUN_BLOB_TARGET = 3;
const PRAGUE_BLOB_TARGET = 6;

describe("the development network", () => {
  it("makes blocks on demand, moves time and goes back, by the names of Hardhat and anvil", async () => {
    const network = await started();
    const { ask } = network;
    expect(await ask("evm_setAutomine", false)).toBe(true);
    const height = Number(await ask("eth_blockNumber"));
    const id = await ask("evm_snapshot");
    expect(id).toBe("0x1");
    expect(await ask("evm_mine")).toBe("0");
    expect(await ask("hardhat_mine", "0x3", "0x3c")).toBe(true);
    const before = await newestTime(network);
    expect(await ask("evm_increaseTime", "0x64")).toMatch(/^[0-9]+$/);
    expect(await ask("anvil_mine", 2)).toBeNull();
    expect((await newestTime(network)) - before).toBeGreaterThan(100);
    const next = before + 100_000;
    expect(await ask("evm_setNextBlockTimestamp", next)).toBe(String(next));
    expect(await ask("evm_mine")).toBe("0");
    expect(await newestTime(network)).toBe(next);
    expect(await ask("evm_mine", 5)).toMatchObject({
      code: -32000,
      message: expect.stringContaining("lower"),
    });
    expect(await ask("evm_mine", { blocks: 2, timestamp: next + 5 })).toBe("0");
    expect(await newestTime(network)).toBe(next + 6);
    expect(Number(await ask("eth_blockNumber"))).toBe(height + 9);
    expect(await ask("evm_setBlockGasLimit", "0x1c9c380")).toBe(true);
    expect(await ask("eth_getBlockByNumber", "latest", false)).toMatchObject({ gasLimit: "0x1c9c380" });
    expect(await ask("evm_revert", id)).toBe(true);
    expect(Number(await ask("eth_blockNumber"))).toBe(height);
    expect(await ask("evm_revert", id)).toBe(false);
    expect(await ask("hardhat_setNextBlockBaseFeePerGas", "0x0")).toBe(true);
    expect(await ask("anvil_setNextBlockBaseFeePerGas", "0x1")).toMatchObject({ code: -32000 });
    expect(await ask("hardhat_reset")).toBe(true);
    expect(await ask("eth_blockNumber")).toBe("0x1");
    for (const forking of [{}, { blockNumber: null }, null])
      expect(await ask("anvil_reset", { forking })).toBeNull();
    for (const forking of [{ jsonRpcUrl: "http://127.0.0.1:1" }, { blockNumber: 1 }, true])
      expect(await ask("hardhat_reset", { forking })).toMatchObject({ code: -32000 });
    expect(await ask("eth_mining")).toBe(true);
  });

  it("mines a transaction before its caller has the answer, with instant blocks", async () => {
    const { ask } = await started({ "dev-instant-blocks": "true" });
    expect(await ask("hardhat_getAutomine")).toBe(true);
    for (let nonce = 0n; nonce < 5n; nonce++) {
      const { raw, hash } = aTransaction({ nonce });
      expect(await ask("eth_sendRawTransaction", toHex(raw))).toBe(toHex(hash));
      expect(await ask("eth_getTransactionReceipt", toHex(hash))).toMatchObject({ status: "0x1" });
    }
    expect(await ask("eth_blockNumber")).toBe("0x6");
  });

  itIfThorough("sets what an account has and may spend of a token", async () => {
    const { ask } = await started({ "dev-instant-blocks": "true" });
    const [token, owner, spender] = ["70", "71", "72"].map((digits) => `0x${digits.repeat(20)}`) as [
      string,
      string,
      string,
    ];
    // Answers with the slot whose number is the hash of the arguments, whatever the selector is.
    await ask("anvil_setCode", token, "0x36600490038060046000376000205460005260206000f3");
    const word = (address: string) => address.slice(2).padStart(64, "0");
    const read = async (data: string) => Number(await ask("eth_call", { to: token, data }, "latest"));
    expect(await ask("anvil_dealERC20", owner, token, "0x64")).toBeNull();
    expect(await read(`0x70a08231${word(owner)}`)).toBe(100);
    expect(await read(`0x70a08231${word(spender)}`)).toBe(0);
    expect(await ask("anvil_setERC20Allowance", owner, spender, token, 7)).toBeNull();
    expect(await read(`0xdd62ed3e${word(owner)}${word(spender)}`)).toBe(7);
    expect(await ask("anvil_dealERC20", owner, spender, "0x64")).toMatchObject({ code: -32603 });
  });

  itIfThorough("puts other blocks in the place of the newest ones", async () => {
    const { ask } = await started({ "dev-instant-blocks": "true" });
    const to = `0x${"75".repeat(20)}`;
    const hash = await ask("eth_sendTransaction", { to, value: "0x9" });
    await ask("anvil_mine", 2);
    expect(await ask("anvil_rollback", 2)).toBeNull();
    expect(await ask("eth_getBalance", to, "latest")).toBe("0x9");
    const gifts = [
      [{ to, value: "0x1" }, 1],
      [{ to, value: "0x2" }, 0],
    ];
    await ask("evm_mine");
    expect(await ask("anvil_reorg", 2, gifts)).toBeNull();
    expect(await ask("eth_getTransactionReceipt", hash)).toBeNull();
    expect(await ask("eth_getBalance", to, "0x2")).toBe("0x2");
    expect(await ask("eth_getBalance", to, "0x3")).toBe("0x3");
    for (const wrong of [[9, []], [2, [[{ to }, 2]]], [2, [[{ to }]]], [2]])
      expect(await ask("anvil_reorg", ...wrong)).toMatchObject({ code: -32602 });
    expect(await ask("anvil_reorg", 1, [[{ to, from: to }, 0]])).toMatchObject({ code: -32000 });
    expect(await ask("anvil_rollback", 9)).toMatchObject({ code: -32602 });
    expect(await ask("eth_blockNumber")).toBe("0x3");
  });

  itIfThorough("shows the blocks that it mined, and removes what an account has in the pool", async () => {
    const { ask } = await started({ "dev-instant-blocks": "true" });
    await ask("evm_setAutomine", false);
    const [one, other] = (await ask("eth_accounts")) as readonly string[];
    const hash = await ask("eth_sendTransaction", { from: one, to: other, value: "0x1" });
    const dropped = await ask("eth_sendTransaction", { from: other, to: one, value: "0x1" });
    expect(await ask("anvil_removePoolTransactions", other)).toBeNull();
    expect(await ask("eth_getTransactionByHash", dropped)).toBeNull();
    expect(await ask("evm_mine_detailed", { blocks: 2 })).toMatchObject([
      { number: "0x2", transactions: [{ hash }] },
      { number: "0x3", transactions: [] },
    ]);
    expect(await ask("anvil_mine_detailed", { blocks: 257 })).toMatchObject({ code: -32602 });
    expect(await ask("anvil_getIntervalMining")).toBeNull();
    await ask("anvil_setIntervalMining", 3600);
    expect(await ask("anvil_getIntervalMining")).toBe(3600);
  });

  itIfThorough("gives its state out, and adds that of another node to its own", async () => {
    const contract = `0x${"5e".repeat(20)}`;
    const word = (last: string) => `0x${last.padStart(64, "0")}`;
    const first = await started();
    await first.ask("anvil_setCode", contract, "0x60016002");
    await first.ask("anvil_setStorageAt", contract, "0x7", word("8"));
    const dump = await first.ask("anvil_dumpState");
    await first.node.stop();
    folder = temporaryFolder();
    const second = await started();
    expect(await second.ask("hardhat_loadState", dump)).toBe(true);
    expect(await second.ask("eth_getCode", contract, "latest")).toBe("0x60016002");
    expect(await second.ask("eth_getStorageAt", contract, "0x7", "latest")).toBe(word("8"));
    for (const none of ["0x", "0x12", "0x1f8b"])
      expect(await second.ask("anvil_loadState", none)).toMatchObject({
        code: -32602,
        data: expect.stringContaining("no dump of a state"),
      });
    expect(await second.ask("anvil_dumpState", "x")).toMatchObject({ code: -32602 });
  });

  it("refuses what it cannot do, and says what to do instead", async () => {
    const { ask } = await started({ "dev-instant-blocks": "true" });
    for (const [method, params, text] of [
      ["anvil_setChainId", [5], "genesis file"],
      ["anvil_setRpcUrl", ["http://localhost"], "no other node"],
      ["hardhat_setMinGasPrice", ["0x1"], "--min-gas-price"],
      ["anvil_impersonateSignature", ["0x12", `0x${"11".repeat(20)}`], "anvil_impersonateAccount"],
    ] as const)
      expect(await ask(method, ...params)).toMatchObject({
        code: -32000,
        message: expect.stringContaining(text),
      });
  });

  it("offers no comfort to pages of foreign origins, unless an option names them", async () => {
    const { askFrom } = await started({ "rpc-ws-origins": "https://trusted.example" });
    for (const method of ["evm_mine", "hardhat_mine", "anvil_mine", "evm_snapshot", "anvil_setAutomine"])
      expect(await askFrom("https://evil.example", method)).toMatchObject({ code: -32601 });
    expect(await askFrom("https://evil.example", "eth_chainId")).toBe("0x539");
    expect(await askFrom("https://trusted.example", "evm_mine")).toBe("0");
  });
});

describe("a folder of the development network with another key", () => {
  itIfThorough("opens without the comforts", async () => {
    writeFileSync(join(folder, "key"), toHex(account(0).privateKey));
    const { ask } = await started();
    expect(await ask("eth_chainId")).toBe("0x539");
    for (const method of ["evm_mine", "evm_snapshot", "hardhat_getAutomine", "anvil_mine"])
      expect(await ask(method)).toMatchObject({ code: -32601 });
    expect(await ask("rpc_modules")).not.toHaveProperty("evm");
  });
});

describe("a folder that a version before Prague made", () => {
  /** What `npm start` was, in all that the folder shows. */
  const former = {
    "genesis-file": DEV_CANCUN_GENESIS_FILE,
    "rpc-http-enabled": "true",
    "p2p-enabled": "false",
  };
  const targetOf = async ({ ask }: Started): Promise<number | undefined> => {
    const { current } = (await ask("eth_config")) as { current: { blobSchedule: { target: number } } };
    return current.blobSchedule.target;
  };

  itIfThorough("goes on under its own rules, without a word about them", async () => {
    writeFileSync(join(folder, "key"), toHex(DEV_VALIDATOR_KEY));
    const before = await started(former);
    await expect.poll(() => before.ask("eth_blockNumber")).not.toBe("0x0");
    await before.node.stop();
    lines = [];
    const after = await started();
    expect(lines.filter((line) => /genesis|Prague/.test(line))).toEqual([]);
    expect(await targetOf(after)).toBe(CANCUN_BLOB_TARGET);
    const height = Number(await after.ask("eth_blockNumber"));
    await after.ask("evm_mine");
    expect(Number(await after.ask("eth_blockNumber"))).toBeGreaterThan(height);
    expect(await after.ask("anvil_nodeInfo")).toMatchObject({ hardFork: "cancun" });
    const authorizationList = [
      { chainId: "0x1", address: `0x${"00".repeat(20)}`, nonce: "0x0", yParity: "0x0", r: "0x1", s: "0x1" },
    ];
    expect(await after.ask("eth_call", { to: `0x${"11".repeat(20)}`, authorizationList })).toMatchObject({
      code: -32602,
    });
  });

  itIfThorough("takes Prague at a time that an option gives", async () => {
    writeFileSync(join(folder, "key"), toHex(DEV_VALIDATOR_KEY));
    const before = await started(former);
    await expect.poll(() => before.ask("eth_blockNumber")).not.toBe("0x0");
    await before.node.stop();
    // No block has a later time, however long the stop took.
    const soon = Math.ceil(Date.now() / 1000) + 3;
    const adopting = await started({ "override-genesis-config": `pragueTime=${soon}` });
    await expect.poll(() => targetOf(adopting)).toBe(PRAGUE_BLOB_TARGET);
  });

  it("is refused with Prague from its first block on", async () => {
    writeFileSync(join(folder, "key"), toHex(DEV_VALIDATOR_KEY));
    const { node } = await started(former);
    await node.stop();
    expect(await start({ "override-genesis-config": "pragueTime=0" })).toMatchObject({
      ok: false,
      error: { code: "differentGenesis" },
    });
  });
});

describe("a folder with the mark", () => {
  async function markedFolder(): Promise<void> {
    const { node, ask } = await started();
    await ask("evm_increaseTime", 1000);
    await ask("evm_setAutomine", true);
    await ask("evm_mine");
    await node.stop();
    expect(existsSync(join(folder, "development.json"))).toBe(true);
  }

  itIfThorough(
    "opens in the development network again, with its time and way of mining, and never votes",
    async () => {
      await markedFolder();
      const votesBefore = await newestVote();
      const again = await started();
      const before = await newestTime(again);
      expect(await again.ask("hardhat_getAutomine")).toBe(true);
      await again.ask("evm_mine");
      expect(await newestTime(again)).toBeGreaterThan(before);
      expect(await newestTime(again)).toBeGreaterThan(Date.now() / 1000 + 500);
      expect(await again.ask("ibft_status")).toMatchObject({ mode: "paused" });
      await again.node.stop();
      expect(await newestVote()).toEqual(votesBefore);
    },
  );

  it.each(
    someOf<[string, Readonly<Record<string, string>>]>([
      ["another genesis file", { "genesis-file": DEV_GENESIS_FILE }],
      ["peers", { "p2p-enabled": "true", "p2p-port": "0" }],
      ["another key", { "node-private-key-file": "other.key" }],
    ]),
  )("does not open with %s, and says what to do", async (_, options) => {
    await markedFolder();
    const refused = await start(options);
    expect(refused).toMatchObject({ ok: false, error: { code: "developmentFolder" } });
    expect(refused.ok ? "" : refused.error.message).toContain("--data-path");
    // The refusal leaves the folder to others.
    await (await openLevelDatabase({ path: join(folder, "chain") })).close();
  });

  itIfThorough("does not open with another key in it", async () => {
    await markedFolder();
    writeFileSync(join(folder, "key"), toHex(account(0).privateKey));
    expect(await start()).toMatchObject({ ok: false, error: { code: "developmentFolder" } });
  });

  itIfThorough.each([0.9, 0.5])(
    "opens after its newest writes are lost, with so much of the log left: %d",
    async (left) => {
      const first = await started();
      for (let block = 0; block < 3; block++) await first.ask("evm_mine");
      await first.ask("hardhat_setBalance", toHex(account(1).address), "0x1");
      await first.ask("evm_snapshot");
      await first.ask("evm_mine");
      const before = Number(await first.ask("eth_blockNumber"));
      await first.node.stop();
      const logs = readdirSync(join(folder, "chain")).filter((name) => name.endsWith(".log"));
      const log = join(folder, "chain", logs.sort().at(-1) ?? "");
      truncateSync(log, Math.floor(statSync(log).size * left));
      const second = await started();
      expect(lines.filter((line) => line.includes("has lost its newest blocks"))).toHaveLength(1);
      const head = Number(await second.ask("eth_blockNumber"));
      expect(head).toBeLessThan(before);
      expect(await second.ask("evm_mine")).toBe("0");
      expect(Number(await second.ask("eth_blockNumber"))).toBe(head + 1);
    },
  );

  itIfThorough(
    "says how to begin again where its database is damaged, in words that help without peers",
    async () => {
      const first = await started();
      for (let block = 0; block < 3; block++) await first.ask("evm_mine");
      await first.node.stop();
      const manifest = readdirSync(join(folder, "chain")).find((name) => name.startsWith("MANIFEST"));
      const path = join(folder, "chain", manifest ?? "");
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0xff, bytes.length >> 1));
      const refused = await start();
      const refusal = refused.ok ? "it starts" : refused.error.message;
      expect(refusal).toMatch(/damaged|missing/);
      expect(refusal).toContain("delete chain/, caches/ and head.log");
      expect(refusal).toContain("--data-path");
      expect(refusal).not.toMatch(/peers|backup/);
      for (const name of ["chain", "caches", "head.log"])
        rmSync(join(folder, name), { recursive: true, force: true });
      const second = await started();
      expect(await second.ask("evm_mine")).toBe("0");
      expect(await second.ask("eth_blockNumber")).toBe("0x1");
    },
  );

  async function newestVote(): Promise<Uint8Array | undefined> {
    const log = await openVoteLog(join(folder, "votes.log"));
    const newest = log.read();
    await log.close();
    return newest;
  }
});
