/**
 * The sending process of the overload benchmark: senders that do not look at blocks, and send again what was refused for want
 * of room. It signs before it begins, and asks for the receipts of all that was acknowledged when it has ended.
 */

import { type SeenBlock, watchBlocks } from "./blockWatch.ts";
import { transferToNew } from "./growthRecipients.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { performOrder } from "./ownProcess.ts";
import { pause } from "./pause.ts";
import { atQuantile } from "./report.ts";
import { accounts, BATCH_SIZE, signDraft } from "./workload.ts";

export interface OverloadOrder {
  readonly port: number;
  readonly seconds: number;
  /** Transactions sent, those that are sent again included. */
  readonly perSecond: number;
  /** As many are signed; all senders together. */
  readonly transactions: number;
  readonly firstNonces: readonly number[];
  /** Transfers to new accounts that were made before. */
  readonly firstCreated: number;
}

export interface OverloadReport {
  readonly sent: number;
  readonly acknowledged: number;
  /** For want of room in the pool. */
  readonly refused: number;
  readonly otherRefusals: number;
  readonly firstOther: string | undefined;
  /** Acknowledged, and without a receipt once blocks are empty. */
  readonly lost: number;
  /** In blocks that came while it sent. */
  readonly taken: number;
  readonly spacingP95: number;
}

interface Answer {
  readonly id: number;
  readonly result?: string;
  readonly error?: { readonly code: number; readonly message: string };
}

const POOL_FULL = -32005;
/** After as many blocks without transactions the pool has nothing left that can be mined. */
const EMPTY_BLOCKS = 5;

const counts = { sent: 0, acknowledged: 0, refused: 0, otherRefusals: 0 };
let firstOther: string | undefined;

/** One account's transactions in the order of their nonces. */
class Sender {
  readonly hashes: (string | undefined)[];
  readonly #raws: readonly string[];
  /** All before it are acknowledged. */
  #first = 0;

  constructor(raws: readonly string[]) {
    this.#raws = raws;
    this.hashes = raws.map(() => undefined);
  }

  /** The next that are not acknowledged yet; none once all are. */
  next(): readonly number[] {
    while (this.#first < this.hashes.length && this.hashes[this.#first] !== undefined) this.#first++;
    const indexes: number[] = [];
    for (let index = this.#first; index < this.#raws.length && indexes.length < BATCH_SIZE; index++)
      if (this.hashes[index] === undefined) indexes.push(index);
    return indexes;
  }

  body(indexes: readonly number[]): string {
    const calls = indexes.map(
      (index) =>
        `{"jsonrpc":"2.0","id":${index},"method":"eth_sendRawTransaction","params":["${this.#raws[index]}"]}`,
    );
    return `[${calls.join(",")}]`;
  }

  heed(answers: readonly Answer[]): void {
    for (const { id, result, error } of answers) {
      if (result !== undefined) {
        counts.acknowledged++;
        this.hashes[id] = result;
      } else if (error?.code === POOL_FULL) counts.refused++;
      else {
        counts.otherRefusals++;
        firstOther ??= `${error?.code} ${error?.message}`;
      }
    }
  }
}

async function send(order: OverloadOrder): Promise<OverloadReport> {
  const { port, seconds, perSecond, transactions, firstNonces, firstCreated } = order;
  const each = Math.ceil(transactions / accounts.length);
  const senders = accounts.map(({ privateKey }, who) => {
    const [firstNonce = 0, firstIndex] = [firstNonces[who], firstCreated + who * each];
    const sign = (offset: number): string =>
      signDraft(transferToNew(firstIndex + offset), firstNonce + offset, privateKey);
    return new Sender(Array.from({ length: each }, (_, offset) => sign(offset)));
  });
  const client = createRpcClient(port, senders.length + 1);
  const blocks: SeenBlock[] = [];
  const watch = watchBlocks(client, 50, (block) => blocks.push(block));
  const beganAtMs = performance.now();
  const secondsGone = (): number => (performance.now() - beganAtMs) / 1000;
  await Promise.all(
    senders.map(async (sender) => {
      while (secondsGone() < seconds) {
        if (counts.sent > secondsGone() * perSecond) {
          await pause(1);
          continue;
        }
        const indexes = sender.next();
        if (indexes.length === 0) return;
        counts.sent += indexes.length;
        sender.heed(JSON.parse(await client.post(sender.body(indexes))) as Answer[]);
      }
    }),
  );
  const during = [...blocks];
  while (blocks.slice(-EMPTY_BLOCKS).some((block) => block.transactions > 0)) await pause(200);
  await watch.stop();
  const hashes = senders.flatMap((sender) => sender.hashes.filter((hash) => hash !== undefined));
  const lost = await countWithoutReceipt(client, hashes);
  client.close();
  const spacings = during
    .slice(1)
    .map((block, index) => (block.seenAtMs - (during[index]?.seenAtMs ?? 0)) / 1000);
  return {
    ...counts,
    firstOther,
    lost,
    taken: during.reduce((sum, block) => sum + block.transactions, 0),
    spacingP95: atQuantile(spacings, 0.95),
  };
}

async function countWithoutReceipt(client: RpcClient, hashes: readonly string[]): Promise<number> {
  let missing = 0;
  for (let start = 0; start < hashes.length; start += BATCH_SIZE) {
    const calls = hashes
      .slice(start, start + BATCH_SIZE)
      .map((hash) => ["eth_getTransactionReceipt", [hash]] as const);
    missing += (await client.batch<unknown>(calls)).filter((receipt) => receipt === null).length;
  }
  return missing;
}

performOrder(send);
