import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  http,
  pad,
  parseEther,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { HANG_MS } from "../../hang.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";

/** The actions of viem's test client, in each of its modes, on `npm start` as it is shipped. */

const [ALICE, BOB] = DEV_ACCOUNTS.map(({ address }) => address) as [`0x${string}`, `0x${string}`];
const OUTSIDER = `0x${"5e".repeat(20)}` as const;
/** Returns slot 0. */
const GETTER = "0x60005460005260206000f3";

describe.skipIf(!IS_THOROUGH).each(["anvil", "hardhat"] as const)("viem's test client in mode %s", (mode) => {
  let node: NodeProcess;
  let test: ReturnType<typeof clientsOf>["test"];
  let reader: ReturnType<typeof clientsOf>["reader"];
  let wallet: ReturnType<typeof clientsOf>["wallet"];

  beforeAll(async () => {
    node = await startNodeProcess();
    ({ test, reader, wallet } = clientsOf(node, mode));
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const headOf = () => reader.getBlock({ blockTag: "latest" });

  it("mines blocks, with their times as far apart as asked", async () => {
    const before = await headOf();
    await test.mine({ blocks: 3, interval: 60 });
    const blocks = await Promise.all(
      [1n, 2n, 3n].map((more) => reader.getBlock({ blockNumber: before.number + more })),
    );
    expect(
      blocks.slice(1).map(({ timestamp }, index) => timestamp - (blocks[index]?.timestamp ?? 0n)),
    ).toEqual([60n, 60n]);
  });

  it("moves time, and sets that of the next block", async () => {
    const before = await headOf();
    await test.increaseTime({ seconds: 1000 });
    await test.mine({ blocks: 1 });
    const later = await headOf();
    expect(later.timestamp).toBeGreaterThanOrEqual(before.timestamp + 1000n);
    await test.setNextBlockTimestamp({ timestamp: later.timestamp + 777n });
    await test.mine({ blocks: 1 });
    expect((await headOf()).timestamp).toBe(later.timestamp + 777n);
  });

  it("changes a balance, a nonce, code and a slot", async () => {
    await test.setBalance({ address: OUTSIDER, value: parseEther("2") });
    expect(await reader.getBalance({ address: OUTSIDER })).toBe(parseEther("2"));
    await test.setNonce({ address: OUTSIDER, nonce: 7 });
    expect(await reader.getTransactionCount({ address: OUTSIDER })).toBe(7);
    const address = `0x${"0f".repeat(20)}` as const;
    await test.setCode({ address, bytecode: GETTER });
    await test.setStorageAt({ address, index: 0, value: pad("0x2a") });
    expect((await reader.call({ to: address })).data).toBe(pad("0x2a"));
  });

  it("goes back to a snapshot", async () => {
    const balance = await reader.getBalance({ address: BOB });
    const id = await test.snapshot();
    const hash = await wallet.sendTransaction({ account: ALICE, to: BOB, value: 5n });
    await reader.waitForTransactionReceipt({ hash });
    expect(await reader.getBalance({ address: BOB })).toBe(balance + 5n);
    await test.revert({ id });
    expect(await reader.getBalance({ address: BOB })).toBe(balance);
  });

  it("sends for an account that is impersonated, and no longer", async () => {
    await test.setBalance({ address: OUTSIDER, value: parseEther("1") });
    await test.impersonateAccount({ address: OUTSIDER });
    const hash = await wallet.sendTransaction({ account: OUTSIDER, to: BOB, value: 1n });
    expect(await reader.waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });
    await test.stopImpersonatingAccount({ address: OUTSIDER });
    await expect(wallet.sendTransaction({ account: OUTSIDER, to: BOB, value: 1n })).rejects.toThrow(
      /Unknown account/,
    );
  });

  it("holds transactions back, shows what waits, and drops it", async () => {
    expect(await test.getAutomine()).toBe(true);
    await test.setAutomine(false);
    expect(await test.getAutomine()).toBe(false);
    const hash = await wallet.sendTransaction({ account: ALICE, to: BOB, value: 1n });
    expect(await test.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 });
    expect(JSON.stringify(await test.getTxpoolContent())).toContain(hash);
    expect(Object.keys((await test.inspectTxpool()).pending)).toHaveLength(1);
    await test.dropTransaction({ hash });
    expect(await test.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
    await test.setAutomine(true);
  });

  it("has blocks come by time", async () => {
    // In mode anvil, too, the name is Hardhat's, which counts milliseconds: viem multiplies seconds by 1000 in mode hardhat alone.
    await test.setIntervalMining({ interval: mode === "hardhat" ? 1 : 1000 });
    const { number } = await headOf();
    await until(async () => ((await headOf()).number > number + 1n ? true : undefined), "two blocks more");
    await test.setIntervalMining({ interval: 0 });
  });

  it("sets the gas limit", async () => {
    await test.setBlockGasLimit({ gasLimit: 50_000_000n });
    await test.mine({ blocks: 1 });
    expect((await headOf()).gasLimit).toBe(50_000_000n);
  });

  it.runIf(mode === "anvil")("sets how far the times of blocks are apart", async () => {
    await test.setBlockTimestampInterval({ interval: 33 });
    await test.mine({ blocks: 1 });
    const { timestamp } = await headOf();
    await test.mine({ blocks: 1 });
    expect((await headOf()).timestamp).toBe(timestamp + 33n);
    await test.removeBlockTimestampInterval();
  });

  it("gives its state out, and takes it again", async () => {
    await test.setBalance({ address: OUTSIDER, value: 77n });
    const state = await test.dumpState();
    await test.setBalance({ address: OUTSIDER, value: 78n });
    await test.loadState({ state });
    expect(await reader.getBalance({ address: OUTSIDER })).toBe(77n);
    await expect(test.loadState({ state: "0x" })).rejects.toThrow();
  });

  it("is refused what an IBFT chain cannot do", async () => {
    await test.setNextBlockBaseFeePerGas({ baseFeePerGas: 0n });
    await expect(test.setNextBlockBaseFeePerGas({ baseFeePerGas: 9n })).rejects.toThrow();
    await expect(test.setCoinbase({ address: BOB })).rejects.toThrow();
    await expect(test.setMinGasPrice({ gasPrice: 9n })).rejects.toThrow();
    await expect(test.setRpcUrl("http://127.0.0.1:1")).rejects.toThrow();
    await expect(test.reset({ blockNumber: 1n, jsonRpcUrl: "http://127.0.0.1:1" })).rejects.toThrow(/fork/i);
  });

  it("begins again", async () => {
    await test.reset();
    expect((await headOf()).number).toBeLessThan(2n);
    expect(await reader.getBalance({ address: OUTSIDER })).toBe(0n);
  });
});

describe.skipIf(!IS_THOROUGH)("viem's test client in mode ganache", () => {
  it("mines, moves time and goes back", async () => {
    const node = await startNodeProcess();
    const { test, reader } = clientsOf(node, "ganache");
    const headOf = () => reader.getBlock({ blockTag: "latest" });
    await test.mine({ blocks: 2 });
    const before = await headOf();
    const id = await test.snapshot();
    await test.increaseTime({ seconds: 500 });
    await test.mine({ blocks: 1 });
    expect((await headOf()).timestamp).toBeGreaterThanOrEqual(before.timestamp + 500n);
    await test.revert({ id });
    expect(await headOf()).toMatchObject({ hash: before.hash });
    expect(await test.getAutomine()).toBe(true);
    expect(await node.stop()).toBe(0);
  });
});

function clientsOf(node: NodeProcess, mode: "anvil" | "hardhat" | "ganache") {
  const chain = defineChain({
    id: 1337,
    name: "Ibex development",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.httpUrl] } },
  });
  const parameters = {
    chain,
    transport: http(undefined, { timeout: HANG_MS }),
    pollingInterval: 100,
    cacheTime: 0,
  };
  return {
    test: createTestClient({ ...parameters, mode }),
    reader: createPublicClient(parameters),
    wallet: createWalletClient(parameters),
  };
}
