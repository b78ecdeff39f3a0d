import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";

const RICH = toHex(account(0).address);
const UNUSED = `0x${"de".repeat(20)}`;
const CONTRACT = `0x${"c0".repeat(20)}`;
const COIN = `0x${"ee".repeat(20)}`;

/** Adds one to slot 0 and returns it. */
const COUNTER = "0x60005460010180600055600052602060 00f3".replace(" ", "");
/** Emits an empty log, sends one wei to UNUSED, emits an empty log; then reverts when it was called with data. */
const PAYER =
  `0x60006000a0 6000600060006000600173${"de".repeat(20)}5af150 60006000a0 36603157 00 5b 60006000fd`.replaceAll(
    " ",
    "",
  );

function word(value: number | bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

interface Block {
  readonly number: string;
  readonly timestamp: string;
  readonly parentHash: string;
  readonly hash: string;
  readonly gasUsed: string;
  readonly transactions: readonly unknown[];
  readonly calls: readonly {
    readonly returnData: string;
    readonly status: string;
    readonly gasUsed: string;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: string };
    readonly logs: readonly {
      readonly address: string;
      readonly topics: readonly string[];
      readonly data: string;
    }[];
  }[];
}

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  ask = requesterOf({ ...node, ...hereWorkers(node) });
});

function simulate(blockStateCalls: unknown, options: object = {}): Promise<unknown> {
  return ask("eth_simulateV1", { blockStateCalls, ...options }, "latest");
}

async function blocksOf(blockStateCalls: unknown, options: object = {}): Promise<readonly Block[]> {
  return (await simulate(blockStateCalls, options)) as readonly Block[];
}

const callsContract = { from: RICH, to: CONTRACT };
const counting = { stateOverrides: { [CONTRACT]: { code: COUNTER } }, calls: [callsContract, callsContract] };

describe("eth_simulateV1", () => {
  it("runs calls in order, block after block, each on the state left by the earlier ones", async () => {
    const [first, second] = await blocksOf([counting, { calls: [callsContract] }]);
    expect(first?.calls.map(({ returnData }) => returnData)).toEqual([word(1), word(2)]);
    expect(second?.calls.map(({ returnData }) => returnData)).toEqual([word(3)]);
    expect([first?.number, second?.number]).toEqual(["0x1", "0x2"]);
    expect(Number(second?.timestamp) - Number(first?.timestamp)).toBe(1);
    expect(second?.parentHash).toBe(first?.hash);
    const used = first?.calls.reduce((sum, { gasUsed }) => sum + BigInt(gasUsed), 0n);
    expect(BigInt(first?.gasUsed ?? 0)).toBe(used);
    expect(await ask("eth_getCode", CONTRACT, "latest")).toBe("0x");
  });

  it("fills the gap to a given number, and shows blocks as calls see them", async () => {
    const code = "0x4360005242602052600143 0340604052 60606000f3".replaceAll(" ", "");
    const blocks = await blocksOf([
      {
        blockOverrides: { number: "0x4", time: "0x77777777" },
        stateOverrides: { [CONTRACT]: { code } },
        calls: [callsContract],
      },
    ]);
    expect(blocks.map(({ number, calls }) => [number, calls.length])).toEqual([
      ["0x1", 0],
      ["0x2", 0],
      ["0x3", 0],
      ["0x4", 1],
    ]);
    const seen = [word(4), word(0x77777777), blocks[2]?.hash ?? ""].map((each) => each.slice(2)).join("");
    expect(blocks[3]?.calls[0]?.returnData).toBe(`0x${seen}`);
  });

  it("reports a failed call, and continues", async () => {
    const [block] = await blocksOf([
      {
        stateOverrides: { [CONTRACT]: { code: PAYER, balance: "0x5" }, [UNUSED]: { code: "0xfe" } },
        calls: [
          { ...callsContract, data: "0x01", gas: "0x100000" },
          { to: UNUSED, gas: "0x10000" },
          { from: RICH, to: RICH },
        ],
      },
    ]);
    expect(block?.calls.map(({ status }) => status)).toEqual(["0x0", "0x0", "0x1"]);
    expect(block?.calls[0]?.error).toMatchObject({ code: 3, data: "0x" });
    expect(block?.calls[0]?.returnData).toBe("0x");
    expect(block?.calls[1]?.error?.code).toBe(-32015);
  });

  it("shows transfers as logs among those of contracts, without reverted ones", async () => {
    const [block] = await blocksOf(
      [
        {
          stateOverrides: { [CONTRACT]: { code: PAYER, balance: "0x5" } },
          calls: [
            { from: RICH, to: UNUSED, value: "0x7" },
            { from: RICH, to: CONTRACT, value: "0x2" },
            { from: RICH, to: CONTRACT, value: "0x2", data: "0x01" },
          ],
        },
      ],
      { traceTransfers: true },
    );
    const logs = block?.calls.map((call) =>
      call.logs.map(({ address, data }) => [address, data === "0x" ? 0 : Number(data)]),
    );
    const empty = [CONTRACT, 0];
    expect(logs).toEqual([[[COIN, 7]], [[COIN, 2], empty, [COIN, 1], empty], []]);
    expect(block?.calls[0]?.logs[0]?.topics.slice(1)).toEqual(
      [RICH, UNUSED].map((each) => word(BigInt(each))),
    );
  });

  it("shows selfdestruct transfers, and keeps transfers out of receipts and bloom", async () => {
    const selfDestruct = `0x73${UNUSED.slice(2)}ff`;
    const blockStateCalls = [
      {
        stateOverrides: { [CONTRACT]: { code: selfDestruct, balance: "0x5" } },
        calls: [{ from: RICH, to: CONTRACT, value: "0x2" }],
      },
    ];
    const [block] = await blocksOf(blockStateCalls, { traceTransfers: true });
    const [plain] = await blocksOf(blockStateCalls);
    const transfers = block?.calls[0]?.logs.map(({ topics, data }) => [...topics.slice(1), data].map(BigInt));
    expect(transfers).toEqual([[RICH, CONTRACT, 2].map(BigInt), [CONTRACT, UNUSED, 7].map(BigInt)]);
    expect({ ...block, calls: [] }).toEqual({ ...plain, calls: [] });
  });

  it("is free only when no price is given, and still shows code the block's fees", async () => {
    const code = "0x483a60205260005260406000f3";
    const [block] = await blocksOf([
      {
        blockOverrides: { baseFeePerGas: "0xa" },
        stateOverrides: { [CONTRACT]: { code } },
        calls: [callsContract, { ...callsContract, maxFeePerGas: "0xc", maxPriorityFeePerGas: "0x1" }],
      },
    ]);
    const seen = [
      [10, 0],
      [10, 11],
    ].map((fees) => `0x${fees.map((fee) => word(fee).slice(2)).join("")}`);
    expect(block?.calls.map(({ returnData }) => returnData)).toEqual(seen);
    const broke = { from: UNUSED, to: CONTRACT, maxFeePerGas: "0x1" };
    expect(await simulate([{ calls: [broke] }])).toMatchObject({ code: -38014 });
    const below = { ...callsContract, maxFeePerGas: "0x9" };
    expect(await simulate([{ blockOverrides: { baseFeePerGas: "0xa" }, calls: [below] }])).toMatchObject({
      code: -38012,
    });
  });

  it("shows transactions in full on request", async () => {
    const transfer = { from: RICH, to: UNUSED, value: "0x7" };
    const [block] = await blocksOf([{ calls: [transfer] }], { returnFullTransactions: true });
    expect(block?.transactions).toMatchObject([{ ...transfer, nonce: "0x0", blockNumber: "0x1" }]);
    const [short] = await blocksOf([{ calls: [transfer] }]);
    const older = { ...transfer, gasPrice: "0x3", nonce: "0x64" };
    const [other] = await blocksOf([{ calls: [older] }], { returnFullTransactions: true });
    expect(other?.transactions).toMatchObject([{ ...older, type: "0x0" }]);
    expect(short?.transactions).toMatchObject([expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
  });

  it("shows the type of transaction that has the fields of the call, of which an empty list of blobs is none", async () => {
    const transfer = { from: RICH, to: UNUSED };
    const priced = { ...transfer, gasPrice: "0x3" };
    const calls = [
      transfer,
      { ...transfer, blobVersionedHashes: [] },
      { ...transfer, accessList: [] },
      priced,
      { ...priced, accessList: [] },
      { ...priced, blobVersionedHashes: [] },
    ];
    const [block] = await blocksOf([{ calls }], { returnFullTransactions: true });
    const types = block?.transactions.map((transaction) => (transaction as { readonly type: string }).type);
    expect(types).toEqual(["0x2", "0x2", "0x2", "0x0", "0x1", "0x0"]);
  });

  it("refuses with the standard's codes", async () => {
    const codeOf = async (blocks: unknown, options?: object) =>
      ((await simulate(blocks, options)) as { code?: number }).code;
    const strict = { validation: true };
    const broke = { from: UNUSED, to: RICH, value: "0x7" };
    expect(await codeOf([{ calls: [broke] }])).toBe(-38014);
    expect(await codeOf([{ calls: [{ ...callsContract, gas: "0x10" }] }])).toBe(-38013);
    expect(await codeOf([{ calls: [{ ...callsContract, gas: "0xffffffffffff" }] }])).toBe(-38015);
    expect(await codeOf([{ calls: [{ ...callsContract, nonce: "0x9" }] }], strict)).toBe(-38011);
    expect(
      await codeOf(
        [
          {
            stateOverrides: { [RICH]: { nonce: "0x5" } },
            calls: [{ ...callsContract, nonce: "0x4" }],
          },
        ],
        strict,
      ),
    ).toBe(-38010);
    const last = { stateOverrides: { [RICH]: { nonce: "0xffffffffffffffff" } }, calls: [callsContract] };
    expect(await codeOf([last], strict)).toBe(-32603);
    const beyond = { ...callsContract, nonce: "0x10000000000000000" };
    expect(await codeOf([{ calls: [beyond] }])).toBe(-32602);
    expect(await codeOf([{ blockOverrides: { number: "0x0" } }])).toBe(-38020);
    expect(await codeOf([{ blockOverrides: { time: "0x0" } }])).toBe(-38021);
    expect(await codeOf([{ blockOverrides: { number: "0x200" } }])).toBe(-38026);
    expect(await codeOf([{ calls: Array.from({ length: 5001 }, () => broke) }])).toBe(-38026);
    // All blocks are checked before the first one is built.
    expect(await codeOf([{ calls: [broke] }, { blockOverrides: { number: "0x1" } }])).toBe(-38020);
    for (const nonsense of [[], {}, [5], [{ calls: [7] }], [{ stateOverrides: { zz: {} } }], undefined])
      expect(await codeOf(nonsense), JSON.stringify(nonsense)).toBe(-32602);
  });

  it("lets a sender with the highest nonce call without validation, and continues with nonce zero", async () => {
    const stateOverrides = { [RICH]: { nonce: "0xffffffffffffffff" }, [CONTRACT]: { code: COUNTER } };
    const transfer = { from: RICH, to: UNUSED, value: "0x1" };
    const creation = { from: RICH, data: "0x00" };
    const [block] = await blocksOf([{ stateOverrides, calls: [callsContract, transfer] }], {
      returnFullTransactions: true,
    });
    expect(block?.calls.map(({ status }) => status)).toEqual(["0x1", "0x1"]);
    expect(block?.transactions).toMatchObject([{ nonce: "0xffffffffffffffff" }, { nonce: "0x0" }]);
    const [transferred] = await blocksOf([{ stateOverrides, calls: [transfer, creation] }]);
    expect(transferred?.calls.map(({ status }) => status)).toEqual(["0x1", "0x1"]);
    // go-ethereum returns a block with a failed creation; we refuse the simulation.
    expect(await simulate([{ stateOverrides, calls: [creation] }])).toMatchObject({ code: -32603 });
  });

  it("refuses withdrawals and a beacon root, which no block of the chain has", async () => {
    const unsupported = (name: string) => ({
      code: -32000,
      message: `block override "${name}" is not supported on an IBFT chain`,
    });
    const withdrawals = [{ index: "0x0", validatorIndex: "0x0", address: UNUSED, amount: "0x1" }];
    expect(await simulate([{}, { blockOverrides: { withdrawals } }])).toEqual(unsupported("withdrawals"));
    expect(await simulate([{ blockOverrides: { beaconRoot: word(0) } }])).toEqual(unsupported("beaconRoot"));
    expect(await simulate([{ blockOverrides: { withdrawals: [] } }])).toEqual(await simulate([{}]));
  });
});
