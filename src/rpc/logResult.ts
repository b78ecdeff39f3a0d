import type { LocatedLog } from "../chain/chain.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import type { Log } from "../types/log.ts";

/** A list of logs as queries and filters answer it (json-rpc.md §1.5a), as JSON text. */
export function logsJson(logs: readonly LocatedLog[]): string {
  return `[${logTexts(logs).join(",")}]`;
}

/** A single log, for a subscription. */
export function logJson(log: LocatedLog): string {
  return encodeLog(log, placeJson(log));
}

/**
 * Each log as JSON text, in order. Neighbours of one transaction share the text of their place; whether they are
 * neighbours is told by their hashes being the same bytes in memory, which is enough and costs nothing.
 */
export function logTexts(logs: readonly LocatedLog[]): string[] {
  let place = "";
  let before: LocatedLog | undefined;
  return logs.map((log) => {
    if (before === undefined || !isSamePlace(before, log)) place = placeJson(log);
    before = log;
    return encodeLog(log, place);
  });
}

function isSamePlace(a: LocatedLog, b: LocatedLog): boolean {
  return a.transactionHash === b.transactionHash && a.blockHash === b.blockHash && a.removed === b.removed;
}

/** Where the logs of a receipt are, already encoded. */
export interface ReceiptPlace {
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
}

/** The logs inside a receipt (json-rpc.md §1.5b): the same members in another order, never removed. */
export function receiptLogsJson(logs: readonly Log[], place: ReceiptPlace, firstIndex: number): string {
  const middle =
    `"blockNumber":"${place.blockNumber}","transactionHash":"${place.transactionHash}",` +
    `"transactionIndex":"${place.transactionIndex}","blockHash":"${place.blockHash}",`;
  const texts = logs.map(
    ({ address, topics, data }, index) =>
      `{"address":"${toHex(address)}","topics":${topicsJson(topics)},"data":"${toHex(data)}",` +
      `${middle}"logIndex":"${toQuantity(firstIndex + index)}","removed":false}`,
  );
  return `[${texts.join(",")}]`;
}

function placeJson(log: LocatedLog): string {
  return (
    `"removed":${log.removed},"blockNumber":"${toQuantity(log.blockNumber)}","blockHash":"${toHex(log.blockHash)}",` +
    `"transactionHash":"${toHex(log.transactionHash)}","transactionIndex":"${toQuantity(log.transactionIndex)}",`
  );
}

function encodeLog({ log, logIndex }: LocatedLog, place: string): string {
  return (
    `{"logIndex":"${toQuantity(logIndex)}",${place}"address":"${toHex(log.address)}",` +
    `"data":"${toHex(log.data)}","topics":${topicsJson(log.topics)}}`
  );
}

function topicsJson(topics: Log["topics"]): string {
  return `[${topics.map((topic) => `"${toHex(topic)}"`).join(",")}]`;
}
