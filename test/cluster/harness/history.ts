import { addressFromHex } from "../../../src/primitives/address.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { aTransaction, type TransactionFields } from "../../builders/aTransaction.ts";
import { account, accountFromSeed, type TestAccount } from "../../builders/testAccounts.ts";
import { REGISTER_CREATION, readRegister, writeRegister } from "../../contracts/register.ts";
import { rpc, until } from "./nodeProcess.ts";

/** The data that a test wrote to a chain and therefore expects there. */
export interface History {
  /** A register (test/contracts/register.ts). */
  readonly contract: Hex;
  readonly transactions: Hex[];
  readonly accounts: Hex[];
}

export interface Request {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The unchanged result or error of an answer. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const [DEPLOYER, WRITER, PAYER] = [account(1), account(2), account(3)];
const SLOTS = 4;

/** Deploys a register and waits until it is mined. */
export async function beginHistory(url: string): Promise<History> {
  const hash = await send(url, DEPLOYER, { to: undefined, data: REGISTER_CREATION, gasLimit: 200_000n });
  const { contractAddress } = await receiptOf(url, hash);
  const accounts = [DEPLOYER, WRITER, PAYER].map(({ address }) => toHex(address));
  return { contract: contractAddress, transactions: [hash], accounts };
}

/** Adds a transaction of each kind, in a block or two: payments to new accounts, writes with logs, and one that fails. */
export async function extendHistory(url: string, history: History): Promise<void> {
  const round = history.transactions.length;
  const payee = accountFromSeed(round).address;
  const contract = addressFromHex(history.contract);
  const hashes = [
    await send(url, PAYER, { to: payee, value: BigInt(1000 + round) }),
    await send(url, WRITER, { type: 1, to: contract, data: writeRegister(round % SLOTS, BigInt(round)) }),
    await send(url, DEPLOYER, { type: 2, to: contract, data: writeRegister(round, 1n), gasLimit: 23_000n }),
  ];
  for (const hash of hashes) await receiptOf(url, hash);
  history.transactions.push(...hashes);
  history.accounts.push(toHex(payee));
}

/** Requests for everything in the chain up to its head. The answers do not change when empty blocks follow. */
export async function requestsAbout(url: string, history: History): Promise<readonly Request[]> {
  const head = Number(await rpc<Hex>(url, "eth_blockNumber", []));
  const numbers = Array.from({ length: head + 1 }, (_, number) => toQuantity(number));
  const blocks = await ask(
    url,
    numbers.map((number) => request("eth_getBlockByNumber", number, false)),
  );
  const hashes = blocks.map(({ result }) => (result as { hash: Hex }).hash);
  const slots = Array.from({ length: SLOTS }, (_, slot) => toQuantity(slot));
  const { contract, transactions, accounts } = history;
  return [
    ...numbers.flatMap((number) => [
      request("eth_getBlockByNumber", number, true),
      request("eth_getBlockReceipts", number),
      request("eth_getLogs", { fromBlock: number, toBlock: number }),
    ]),
    ...hashes.flatMap((hash) => [
      request("eth_getBlockByHash", hash, false),
      request("eth_getLogs", { blockHash: hash, address: contract }),
    ]),
    ...transactions.flatMap((hash) => [
      request("eth_getTransactionByHash", hash),
      request("eth_getTransactionReceipt", hash),
    ]),
    request("eth_getLogs", { fromBlock: "0x0", toBlock: toQuantity(head) }),
    ...[...numbers, "latest"].flatMap((block) => [
      ...accounts.map((address) => request("eth_getBalance", address, block)),
      request("eth_getTransactionCount", toHex(WRITER.address), block),
      request("eth_getCode", contract, block),
      ...slots.map((slot) => request("eth_getStorageAt", contract, slot, block)),
      request("eth_getProof", contract, slots, block),
      request("eth_call", { to: contract, data: toHex(readRegister(1)) }, block),
    ]),
  ];
}

/** Sends requests in batches; the answers are in the order of the requests. */
export async function ask(url: string, requests: readonly Request[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < requests.length; from += BATCH) {
    const batch = requests.slice(from, from + BATCH).map((each, id) => ({ jsonrpc: "2.0", id, ...each }));
    const response = await fetch(url, { method: "POST", body: JSON.stringify(batch) });
    answers.push(...((await response.json()) as (Answer & { id: number })[]));
  }
  return answers;
}

const BATCH = 500;

function request(method: string, ...params: unknown[]): Request {
  return { method, params };
}

async function send(url: string, from: TestAccount, fields: Partial<TransactionFields>): Promise<Hex> {
  const { privateKey, address } = from;
  const nonce = BigInt(await rpc<Hex>(url, "eth_getTransactionCount", [toHex(address), "pending"]));
  const { raw } = aTransaction({ ...fields, nonce, privateKey });
  return rpc<Hex>(url, "eth_sendRawTransaction", [toHex(raw)]);
}

async function receiptOf(url: string, hash: Hex): Promise<{ contractAddress: Hex }> {
  const found = async () =>
    (await rpc<{ contractAddress: Hex } | null>(url, "eth_getTransactionReceipt", [hash])) ?? undefined;
  return until(found, `the receipt of ${hash}`);
}
