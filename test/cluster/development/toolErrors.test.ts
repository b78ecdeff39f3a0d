import { JsonRpcProvider, Wallet } from "ethers";
import {
  BaseError,
  createTestClient,
  createWalletClient,
  defineChain,
  ExecutionRevertedError,
  encodeErrorResult,
  type Hex,
  http,
  InsufficientFundsError,
  IntrinsicGasTooHighError,
  IntrinsicGasTooLowError,
  NonceTooLowError,
  parseAbi,
  publicActions,
  walletActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { type NodeProcess, type RpcFailure, startNodeProcess } from "../harness/nodeProcess.ts";

/** What viem and ethers make of the errors of a development network, and of its calls after its time was moved. */

const [ALICE, BOB] = DEV_ACCOUNTS.map(({ privateKey }) => privateKeyToAccount(privateKey as Hex)) as [
  ReturnType<typeof privateKeyToAccount>,
  ReturnType<typeof privateKeyToAccount>,
];
const TOO_MUCH = 2n ** 100n;

/** Reverts with its input but for the first four bytes. */
const ECHO = `0x${"e0".repeat(20)}` as const;
const ECHO_CODE = "0x600436036004600037600436036000fd";
const INVALID = `0x${"e1".repeat(20)}` as const;
/** Reverts before the time in its slot 0, and stores that otherwise. */
const GATE = `0x${"e2".repeat(20)}` as const;
const GATE_CODE = "0x6000544210600e576001600155005b600080fd";

const ECHO_ABI = parseAbi(["error Bad(uint256)", "error Panic(uint256)", "error Error(string)"]);

let node: NodeProcess;

beforeAll(async () => {
  node = await startNodeProcess({ options: ["--dev-instant-blocks", "--rpc-threads=1"] });
  const client = clients().test;
  await client.setCode({ address: ECHO, bytecode: ECHO_CODE });
  await client.setCode({ address: INVALID, bytecode: "0xfe" });
  await client.setCode({ address: GATE, bytecode: GATE_CODE });
});

afterAll(async () => {
  expect(await node.stop()).toBe(0);
});

function clients() {
  const chain = defineChain({
    id: 1337,
    name: "development",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.httpUrl] } },
  });
  const transport = http(node.httpUrl, { retryCount: 0 });
  return {
    test: createTestClient({ mode: "hardhat", chain, transport }).extend(publicActions).extend(walletActions),
    wallet: createWalletClient({ chain, transport }),
  };
}

/** The error of a kind that viem found in what went wrong. */
async function viemError<Kind extends Error>(
  asked: Promise<unknown>,
  kind: new (...given: never[]) => Kind,
): Promise<Kind | undefined> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const found = error instanceof BaseError ? error.walk((each) => each instanceof kind) : null;
  if (found === null) expect.fail(`no ${kind.name}: ${String(error)}`);
  return found as Kind;
}

/** A provider of ethers that ends with the test. */
function provider(): JsonRpcProvider {
  const opened = new JsonRpcProvider(node.httpUrl);
  onTestFinished(() => opened.destroy());
  return opened;
}

/** The code that ethers gives to what went wrong. */
const ethersCode = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    (error: { readonly code?: unknown }) => error.code,
  );

describe("viem finds in the errors of a development network", () => {
  it("why transactions that the node signs are refused", async () => {
    const { wallet } = clients();
    const transfer = { account: ALICE.address, to: BOB.address, gas: 21_000n } as const;
    await wallet.sendTransaction(transfer);
    await viemError(wallet.sendTransaction({ ...transfer, value: TOO_MUCH }), InsufficientFundsError);
    await viemError(wallet.sendTransaction({ ...transfer, nonce: 0 }), NonceTooLowError);
    await viemError(wallet.sendTransaction({ ...transfer, gas: 20_000n }), IntrinsicGasTooLowError);
    await viemError(wallet.sendTransaction({ ...transfer, gas: 400_000_001n }), IntrinsicGasTooHighError);
  });

  it("what a contract reverted with, in a call, an estimate and a transaction", async () => {
    const { test } = clients();
    const reverts = async (data: Hex) => {
      const input = `0x00000000${data.slice(2)}` as const;
      await viemError(test.estimateGas({ account: ALICE, to: ECHO, data: input }), ExecutionRevertedError);
      const sent = test.sendTransaction({ account: ALICE.address, to: ECHO, data: input, gas: 100_000n });
      await viemError(sent, ExecutionRevertedError);
      const call = node.rpc("eth_call", [{ to: ECHO, data: input }, "latest"]);
      const { code, data: returned } = await call.then(
        () => expect.fail("no revert"),
        (error: RpcFailure) => error,
      );
      return { code, data: returned };
    };
    for (const data of [
      encodeErrorResult({ abi: ECHO_ABI, errorName: "Error", args: ["no way"] }),
      encodeErrorResult({ abi: ECHO_ABI, errorName: "Panic", args: [17n] }),
      encodeErrorResult({ abi: ECHO_ABI, errorName: "Bad", args: [7n] }),
      "0x",
    ] as const)
      expect(await reverts(data)).toEqual({ code: 3, data });
  });

  it("that a transaction met an invalid instruction", async () => {
    const { test } = clients();
    const sent = test.sendTransaction({ account: ALICE.address, to: INVALID, gas: 100_000n });
    expect((await viemError(sent, ExecutionRevertedError))?.message).toContain("invalid opcode");
  });
});

describe("the errors of methods that every network has", () => {
  it("are Besu's, with the data of no bytes where a call was halted", async () => {
    const failure = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
      node.rpc(method, [...params]).then(
        () => expect.fail("no error"),
        ({ code, message, data }: RpcFailure) => ({ code, message, data }),
      );
    const halted = "Transaction processing could not be completed due to an exception";
    expect(await failure("eth_call", { to: INVALID }, "latest")).toEqual({
      code: -32000,
      message: halted,
      data: "0x",
    });
    expect(await failure("eth_estimateGas", { to: INVALID })).toMatchObject({ code: -32000, data: "0x" });
    const carol = privateKeyToAccount(expectDefined(DEV_ACCOUNTS[3], "an account").privateKey as Hex);
    const signed = (value: bigint, gas = 21_000n) =>
      carol.signTransaction({
        ...{ chainId: 1337, nonce: 0, to: BOB.address, gas, value },
        ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
      });
    const send = (raw: Hex) => failure("eth_sendRawTransaction", raw);
    expect(await send(await signed(TOO_MUCH))).toMatchObject({
      code: -32004,
      message: "Upfront cost exceeds account balance",
    });
    expect(await send(await signed(1n, 20_000n))).toMatchObject({ code: -32003 });
    await node.rpc("eth_sendRawTransaction", [await signed(1n)]);
    expect(await send(await signed(2n))).toMatchObject({ code: -32001, message: "Nonce too low" });
  });
});

describe("ethers finds in the errors of a development network", () => {
  it("that a nonce of a transaction that is signed by the caller was used", async () => {
    const wallet = new Wallet(expectDefined(DEV_ACCOUNTS[2], "an account").privateKey, provider());
    const transfer = { to: BOB.address, gasLimit: 21_000n };
    await (await wallet.sendTransaction(transfer)).wait();
    expect(await ethersCode(wallet.sendTransaction({ ...transfer, nonce: 0 }))).toBe("NONCE_EXPIRED");
  });

  it("why transactions that the node signs are refused", async () => {
    const signer = await provider().getSigner(BOB.address);
    const transfer = { to: ALICE.address, gasLimit: 21_000n };
    await (await signer.sendTransaction(transfer)).wait();
    expect(await ethersCode(signer.sendTransaction({ ...transfer, value: TOO_MUCH }))).toBe(
      "INSUFFICIENT_FUNDS",
    );
    expect(await ethersCode(signer.sendTransaction({ ...transfer, nonce: 0 }))).toBe("NONCE_EXPIRED");
  });
});

describe("a transaction", () => {
  it("reads why it failed: a panic by its code, gas, an instruction, another reason", async () => {
    const { test } = clients();
    const messageOf = async (transaction: {
      readonly to: Hex;
      readonly data?: Hex;
      readonly gas?: bigint;
    }) => {
      const sent = test.sendTransaction({ account: ALICE.address, gas: 100_000n, ...transaction });
      return (await viemError(sent, ExecutionRevertedError))?.message ?? "";
    };
    const panic = encodeErrorResult({ abi: ECHO_ABI, errorName: "Panic", args: [17n] });
    expect(await messageOf({ to: ECHO, data: `0x00000000${panic.slice(2)}` })).toContain(
      "reverted with panic code 0x11 (arithmetic underflow or overflow)",
    );
    await test.setCode({ address: INVALID, bytecode: "0x5b600056" });
    expect(await messageOf({ to: INVALID })).toContain("Transaction ran out of gas");
    await test.setCode({ address: INVALID, bytecode: "0x01" });
    expect(await messageOf({ to: INVALID })).toContain("without a reason string (stack underflow");
    await test.setCode({ address: INVALID, bytecode: "0xfe" });
    expect(await messageOf({ to: INVALID })).toContain("invalid opcode");
  });
});

describe("calls after the time was moved", () => {
  it("are estimated for the block that comes, as are those of the pending block", async () => {
    const { test } = clients();
    const { timestamp } = await test.getBlock();
    const opensAt = timestamp + 100_000n;
    await test.setStorageAt({
      address: GATE,
      index: 0,
      value: `0x${opensAt.toString(16).padStart(64, "0")}`,
    });
    const asked = { account: ALICE.address, to: GATE } as const;
    await viemError(test.estimateGas(asked), ExecutionRevertedError);
    await test.increaseTime({ seconds: 100_000 });
    expect(await test.estimateGas(asked)).toBeGreaterThan(40_000n);
    expect(await test.call({ ...asked, blockTag: "pending" })).toEqual({ data: undefined });
    await viemError(test.call({ ...asked, blockTag: "latest" }), ExecutionRevertedError);
    // As wallets do it, which estimate first.
    const hash = await test.sendTransaction({ account: BOB, to: GATE });
    expect(await test.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  });

  it("see the time that was set for the next block, and its number", async () => {
    const { test } = clients();
    const { timestamp, number } = await test.getBlock();
    await test.setNextBlockTimestamp({ timestamp: timestamp + 777n });
    // Returns its block's time and number.
    await test.setCode({
      address: INVALID,
      bytecode: "0x426000524360205260406000f3",
    });
    const seen = async (block: "pending" | "latest" | undefined) => {
      const data = await node.rpc<string>("eth_call", [
        { to: INVALID },
        ...(block === undefined ? [] : [block]),
      ]);
      return [BigInt(data.slice(0, 66)), BigInt(`0x${data.slice(66)}`)];
    };
    // An altered block has its parent's time.
    expect(await seen("pending")).toEqual([timestamp + 777n, number + 2n]);
    expect(await seen("latest")).toEqual([timestamp, number + 1n]);
    expect(await seen(undefined)).toEqual(await seen("latest"));
    await test.mine({ blocks: 1 });
    expect(await seen("latest")).toEqual([timestamp + 777n, number + 2n]);
  });
});
