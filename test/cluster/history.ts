import { addressFromHex } from "../../src/primitives/address.ts";
import { type Hex, toHex } from "../../src/primitives/hex.ts";
import { toQuantity } from "../../src/primitives/quantity.ts";
import { aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { account, accountFromSeed, type TestAccount } from "../builders/testAccounts.ts";
import { REGISTER_CREATION, readRegister, writeRegister } from "../contracts/register.ts";
import { rpc, until } from "./nodeProcess.ts";

/** What a test wrote to a chain, and therefore knows to be there. */
export interface History {
  /** A register (test/contracts/register.ts). */
  readonly contract: Hex;
  readonly transactions: Hex[];
  readonly accounts: Hex[];
}

export interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An answer's result or error, as it came. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const [DEPLOYER, WRITER, PAYER] = [account(1), account(2), account(3)];
const SLOTS = 4;

/** Deploys a register and waits until it is there. */
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

/** Questions about all that the chain holds up to its head. The answers stay as they are when empty blocks follow. */
export async function questionsAbout(url: string, history: History): Promise<readonly Question[]> {
  const head = Number(await rpc<Hex>(url, "eth_blockNumber", []));
  const numbers = Array.from({ length: head + 1 }, (_, number) => toQuantity(number));
  const blocks = await ask(
    url,
    numbers.map((number) => question("eth_getBlockByNumber", number, false)),
  );
  const hashes = blocks.map(({ result }) => (result as { hash: Hex }).hash);
  const slots = Array.from({ length: SLOTS }, (_, slot) => toQuantity(slot));
  const { contract, transactions, accounts } = history;
  return [
    ...numbers.flatMap((number) => [
      question("eth_getBlockByNumber", number, true),
      question("eth_getBlockReceipts", number),
      question("eth_getLogs", { fromBlock: number, toBlock: number }),
    ]),
    ...hashes.flatMap((hash) => [
      question("eth_getBlockByHash", hash, false),
      question("eth_getLogs", { blockHash: hash, address: contract }),
    ]),
    ...transactions.flatMap((hash) => [
      question("eth_getTransactionByHash", hash),
      question("eth_getTransactionReceipt", hash),
    ]),
    question("eth_getLogs", { fromBlock: "0x0", toBlock: toQuantity(head) }),
    ...[...numbers, "latest"].flatMap((block) => [
      ...accounts.map((address) => question("eth_getBalance", address, block)),
      question("eth_getTransactionCount", toHex(WRITER.address), block),
      question("eth_getCode", contract, block),
      ...slots.map((slot) => question("eth_getStorageAt", contract, slot, block)),
      question("eth_getProof", contract, slots, block),
      question("eth_call", { to: contract, data: toHex(readRegister(1)) }, block),
    ]),
  ];
}

/** Asks in batches; the answers are in the order of the questions. */
export async function ask(url: string, questions: readonly Question[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < questions.length; from += BATCH) {
    const batch = questions.slice(from, from + BATCH).map((each, id) => ({ jsonrpc: "2.0", id, ...each }));
    const response = await fetch(url, { method: "POST", body: JSON.stringify(batch) });
    answers.push(...((await response.json()) as (Answer & { id: number })[]));
  }
  return answers;
}

const BATCH = 500;

function question(method: string, ...params: unknown[]): Question {
  return { method, params };
}

async function send(url: string, from: TestAccount, fields: Partial<TransactionFields>): Promise<Hex> {
  const { privateKey, address } = from;
  const nonce = BigInt(await rpc<Hex>(url, "eth_getTransactionCount", [toHex(address), "pending"]));
  const { raw } = aTransaction({ ...fields, nonce, privateKey });
  return rpc<Hex>(url, "eth_sendRawTransaction", [toHex(raw)]);
}

async function receiptOf(url: string, hash: Hex): Promise<{ contractAddress: Hex }> {
  const asked = async () =>
    (await rpc<{ contractAddress: Hex } | null>(url, "eth_getTransactionReceipt", [hash])) ?? undefined;
  return until(asked, 10_000, `the receipt of ${hash}`);
}
