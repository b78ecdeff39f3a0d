import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { hexToBytes } from "../../../src/primitives/hex.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { anRpcBackend } from "../../builders/anRpcBackend.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";
import { type AskGraphQl, graphQlOf } from "./aGraphQl.ts";

/** On chains with random blocks GraphQL answers what JSON-RPC answers to the same questions. */

const KINDS = ["transfer", "accessList", "feeMarket", "creation", "logs", "revert", "halt"] as const;

interface Plan {
  readonly kind: (typeof KINDS)[number];
  readonly sender: number;
  readonly amount: number;
}

const A_PLAN = fc.record<Plan>({
  kind: fc.constantFrom(...KINDS),
  sender: fc.integer({ min: 0, max: 3 }),
  amount: fc.integer({ min: 0, max: 255 }),
});

/** Creation code that logs two entries, and leaves a contract which logs one with each call. */
const LOGGING = "6001600060006000a1600260016020600060006000a26000";

describe("GraphQL beside JSON-RPC", () => {
  it("gives the same blocks, transactions, receipts, logs and accounts", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(A_PLAN, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
        async (plans) => {
          const node = await nodeWith(bodiesOf(plans));
          const parts = { ...node, ...hereWorkers(node) };
          await compare(plans.length, requesterOf(parts), graphQlOf(anRpcBackend(parts)));
        },
      ),
      { numRuns: 12 },
    );
  });
});

function bodiesOf(plans: readonly (readonly Plan[])[]): SentTransaction[][] {
  const nonces = [0n, 0n, 0n, 0n];
  return plans.map((block) =>
    block.map(({ kind, sender, amount }) => {
      const nonce = nonces[sender] ?? 0n;
      nonces[sender] = nonce + 1n;
      return transactionOf(kind, { nonce, privateKey: account(sender).privateKey, value: BigInt(amount) });
    }),
  );
}

function transactionOf(
  kind: Plan["kind"],
  fields: { readonly nonce: bigint; readonly privateKey: Uint8Array; readonly value: bigint },
): SentTransaction {
  const creation = (code: string) =>
    aTransaction({ ...fields, to: undefined, value: 0n, gasLimit: 200_000n, data: hexToBytes(`0x${code}`) });
  switch (kind) {
    case "transfer":
      return aTransaction({ ...fields, to: account(5).address });
    case "accessList": {
      const accessList = [{ address: account(7).address, storageKeys: [] }];
      return aTransaction({ ...fields, type: 1, accessList });
    }
    case "feeMarket":
      return aTransaction({ ...fields, type: 2 });
    case "creation":
      return creation("600a600c600039600a6000f3602a60005260206000f3");
    case "logs":
      return creation(LOGGING);
    case "revert":
      return creation("60006000fd");
    case "halt":
      return creation("fe");
  }
}

async function nodeWith(bodies: readonly (readonly SentTransaction[])[]): Promise<TestChain> {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  const [, ...sealed] = await sealedDevBlocks(bodies);
  for (const bytes of sealed) {
    const block = decodeBlock(bytes);
    if (!block.ok) throw new Error(block.error.message);
    const imported = await node.chain.importBlock(block.value);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  return node;
}

const ACCOUNT = '{address balance transactionCount code storage(slot:"0x0")}';
const LOG = "{index topics data account{address} transaction{hash index}}";
const TRANSACTION = `{hash nonce index from${ACCOUNT} to${ACCOUNT} value gas inputData r s v yParity type
  maxFeePerGas maxPriorityFeePerGas accessList{address storageKeys} raw rawReceipt
  status gasUsed cumulativeGasUsed effectiveGasPrice createdContract{address} logs${LOG}}`;
const BLOCK = `{number hash parent{hash} nonce transactionsRoot transactionCount stateRoot receiptsRoot miner{address}
  extraData gasLimit gasUsed baseFeePerGas timestamp logsBloom mixHash difficulty totalDifficulty ommerCount
  ommerHash rawHeader transactions${TRANSACTION} logs(filter:{topics:[]})${LOG}}`;

type Members = Readonly<Record<string, unknown>>;

async function compare(blocks: number, ask: Ask, askGraphQl: AskGraphQl): Promise<void> {
  const { data } = await askGraphQl(`{blocks(from:0)${BLOCK}}`);
  const shown = data?.["blocks"] as readonly Members[];
  expect(shown).toHaveLength(blocks + 1);
  for (const block of shown) {
    const number = String(block["number"]);
    const expected = (await ask("eth_getBlockByNumber", number, true)) as Members;
    expect(block).toEqual(await asGraphQl(expected, ask));
  }
  const logs = await ask("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" });
  const { data: found } = await askGraphQl(`{logs(filter:{fromBlock:0,topics:[]})${LOG}}`);
  expect(found?.["logs"]).toEqual((logs as readonly Members[]).map(logOf));
  for (const name of ["gasPrice", "maxPriorityFeePerGas"])
    expect((await askGraphQl(`{${name}}`)).data).toEqual({ [name]: await ask(`eth_${name}`) });
}

/** A block of JSON-RPC in the shape of the query above. */
async function asGraphQl(block: Members, ask: Ask): Promise<object> {
  const receipts = (await ask("eth_getBlockReceipts", block["number"])) as readonly Members[];
  const rawReceipts = (await ask("debug_getRawReceipts", block["number"])) as readonly string[];
  const transactions = block["transactions"] as readonly Members[];
  const isGenesis = block["number"] === "0x0";
  return {
    ...pick(block, [
      "number",
      "hash",
      "nonce",
      "transactionsRoot",
      "stateRoot",
      "receiptsRoot",
      "extraData",
      "gasLimit",
      "gasUsed",
      "timestamp",
      "logsBloom",
      "mixHash",
      "difficulty",
      "totalDifficulty",
    ]),
    baseFeePerGas: block["baseFeePerGas"] ?? null,
    parent: isGenesis ? null : { hash: block["parentHash"] },
    miner: { address: block["miner"] },
    transactionCount: `0x${transactions.length.toString(16)}`,
    ommerCount: "0x0",
    ommerHash: block["sha3Uncles"],
    rawHeader: await ask("debug_getRawHeader", block["number"]),
    transactions: await Promise.all(
      transactions.map((each, index) =>
        transactionIn(each, { receipt: receipts[index] ?? {}, rawReceipt: rawReceipts[index] ?? "" }, ask),
      ),
    ),
    logs: receipts.flatMap(({ logs }) => (logs as readonly Members[]).map(logOf)),
  };
}

async function transactionIn(
  transaction: Members,
  { receipt, rawReceipt }: { readonly receipt: Members; readonly rawReceipt: string },
  ask: Ask,
): Promise<object> {
  const accountAt = async (address: unknown) =>
    address === null
      ? null
      : {
          address,
          balance: await ask("eth_getBalance", address, transaction["blockNumber"]),
          transactionCount: await ask("eth_getTransactionCount", address, transaction["blockNumber"]),
          code: await ask("eth_getCode", address, transaction["blockNumber"]),
          storage: await ask("eth_getStorageAt", address, "0x0", transaction["blockNumber"]),
        };
  const { contractAddress } = receipt;
  return {
    ...pick(transaction, ["hash", "nonce", "value", "gas", "r", "s", "v", "type"]),
    index: transaction["transactionIndex"],
    from: await accountAt(transaction["from"]),
    to: await accountAt(transaction["to"]),
    inputData: transaction["input"],
    yParity: transaction["yParity"] ?? null,
    maxFeePerGas: transaction["maxFeePerGas"] ?? null,
    maxPriorityFeePerGas: transaction["maxPriorityFeePerGas"] ?? null,
    accessList: transaction["accessList"] ?? [],
    raw: await ask("debug_getRawTransaction", transaction["hash"]),
    rawReceipt,
    ...pick(receipt, ["status", "gasUsed", "cumulativeGasUsed", "effectiveGasPrice"]),
    createdContract: contractAddress === null ? null : { address: contractAddress },
    logs: (receipt["logs"] as readonly Members[]).map(logOf),
  };
}

function logOf(log: Members): object {
  return {
    index: log["logIndex"],
    topics: log["topics"],
    data: log["data"],
    account: { address: log["address"] },
    transaction: { hash: log["transactionHash"], index: log["transactionIndex"] },
  };
}

function pick(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(names.map((name) => [name, members[name]]));
}
