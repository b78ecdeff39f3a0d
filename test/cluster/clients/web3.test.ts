import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Web3 } from "web3";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { compileContract, LEDGER_SOURCE } from "../../contracts/compile.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

const [, , , , , , , , dev] = DEV_ACCOUNTS;

describe.skipIf(!IS_THOROUGH)("web3.js", () => {
  const ledger = compileContract(LEDGER_SOURCE, "Ledger");
  let node: NodeProcess;
  let web3: Web3;
  let from: string;

  beforeAll(async () => {
    node = await startNodeProcess();
    web3 = new Web3(node.httpUrl);
    web3.eth.transactionPollingInterval = 100;
    from = web3.eth.accounts.wallet.add(dev?.privateKey ?? "")[0]?.address ?? "";
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  const deploy = () =>
    new web3.eth.Contract(ledger.abi as never)
      .deploy({ data: ledger.bytecode, arguments: [4n] as never })
      .send({ from, gas: "2000000" });

  it("reads the chain", async () => {
    expect(await web3.eth.getChainId()).toBe(1337n);
    expect(await web3.eth.getNodeInfo()).toMatch(/^anvil-compatible\/ibex\//);
    expect((await web3.eth.getBlock(0)).number).toBe(0n);
    expect(await web3.eth.getBalance(from)).toBe(10n ** 22n);
  });

  it("deploys, sends, calls, and finds the event", async () => {
    const contract = await deploy();
    const methods = contract.methods as Record<string, (...args: unknown[]) => Method>;
    const gas = await methods["deposit"]?.("web3").estimateGas({ from, value: "9" });
    const receipt = await methods["deposit"]?.("web3").send({ from, value: "9", gas: String(gas) });
    expect(receipt).toMatchObject({ status: 1n });
    expect(await methods["balances"]?.(from).call()).toBe(9n);
    const events = await contract.getPastEvents("allEvents", { fromBlock: 0 });
    expect(events).toMatchObject([
      { event: "Deposited", returnValues: { who: from, amount: 9n, note: "web3" } },
    ]);
  });

  it("decodes the reason and the custom error of a reverted call", async () => {
    const { methods } = await deploy();
    const calls = methods as Record<string, (...args: unknown[]) => Method>;
    await expect(calls["refuse"]?.().call()).rejects.toMatchObject({ cause: { message: /out of order/ } });
    await expect(calls["withdraw"]?.(5n).call({ from })).rejects.toMatchObject({
      cause: { errorName: "Insufficient", errorArgs: { have: 0n, want: 5n } },
    });
  });

  it("is notified of blocks and events over WebSocket", async () => {
    const contract = await deploy();
    const socket = new Web3(node.wsUrl);
    const heads = await socket.eth.subscribe("newBlockHeaders");
    const logs = await socket.eth.subscribe("logs", { address: contract.options.address as string });
    const head = new Promise<{ number?: unknown }>((resolve) => heads.on("data", resolve));
    const log = new Promise<{ transactionHash?: unknown }>((resolve) => logs.on("data", resolve));
    const methods = contract.methods as Record<string, (...args: unknown[]) => Method>;
    const receipt = await methods["deposit"]?.("live").send({ from, value: "1", gas: "200000" });
    expect(await log).toMatchObject({
      transactionHash: (receipt as { transactionHash: string }).transactionHash,
    });
    expect(typeof (await head).number).toBe("bigint");
    socket.currentProvider?.disconnect();
  });
});

/** A contract's method in web3.js, whose own types need an ABI that is known at compile time. */
interface Method {
  call(options?: object): Promise<unknown>;
  send(options: object): Promise<unknown>;
  estimateGas(options: object): Promise<unknown>;
}
