import { memberOf } from "./differingPlaces.ts";
import type { RpcAnswer, RpcRequest } from "./endpoint.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import { fillIn, type MethodTemplate } from "./methodTemplates.ts";

/** A request about a block, and the index of its transaction in the block if it is about one. */
export interface BlockRequest extends RpcRequest {
  readonly transactionIndex?: number;
}

/** Values of a block for the placeholders of requests. */
interface BlockContents {
  readonly block: Readonly<Record<string, unknown>>;
  readonly transactions: readonly Readonly<Record<string, unknown>>[];
}

/** The contents of a block, from an answer of eth_getBlockByNumber with whole transactions. */
export function contentsOf(number: bigint, block: unknown): BlockContents {
  const transactions = memberOf(block, "transactions");
  return {
    block: {
      "{number}": quantity(number),
      "{hash}": memberOf(block, "hash"),
      "{parent}": quantity(number === 0n ? 0n : number - 1n),
      "{parentHash}": memberOf(block, "parentHash"),
    },
    transactions: (Array.isArray(transactions) ? transactions : []).map((transaction, index) => ({
      "{transaction}": memberOf(transaction, "hash"),
      "{index}": quantity(BigInt(index)),
      "{call}": callOf(transaction),
    })),
  };
}

/** The accounts that a block's header, transactions and receipts name. */
export function accountsIn(block: unknown, receipts: readonly RpcAnswer[]): readonly string[] {
  const named = new Set<unknown>([memberOf(block, "miner")]);
  const transactions = memberOf(block, "transactions");
  for (const transaction of Array.isArray(transactions) ? transactions : [])
    for (const member of ["from", "to"]) named.add(memberOf(transaction, member));
  for (const answer of receipts) {
    const receipt = answer.kind === "answer" ? answer.result : undefined;
    named.add(memberOf(receipt, "contractAddress"));
    const logs = memberOf(receipt, "logs");
    for (const log of Array.isArray(logs) ? logs : []) named.add(memberOf(log, "address"));
  }
  return [...named].filter(
    (each): each is string => typeof each === "string" && /^0x[\da-f]{40}$/i.test(each),
  );
}

/** The requests that the templates make for a block, and how many were left out because of limits. */
export function requestsFor(
  templates: readonly MethodTemplate[],
  { block, transactions }: BlockContents,
  accounts: readonly string[],
): { readonly requests: readonly BlockRequest[]; readonly leftOut: number } {
  const requests: BlockRequest[] = [];
  let leftOut = 0;
  for (const { method, params, each } of templates) {
    const all = each === "account" ? accounts : transactions;
    const most = each === "account" ? COMPARE_LIMITS.addressesPerBlock : COMPARE_LIMITS.transactionsPerBlock;
    if (each !== "block") leftOut += Math.max(0, all.length - most);
    const fill = (values: Readonly<Record<string, unknown>>): readonly unknown[] =>
      params.map((param) => fillIn(param, { ...block, ...values }));
    if (each === "block") requests.push({ method, params: fill({}) });
    else if (each === "account")
      requests.push(
        ...accounts.slice(0, most).map((address) => ({ method, params: fill({ "{address}": address }) })),
      );
    else
      requests.push(
        ...transactions
          .slice(0, most)
          .map((values, transactionIndex) => ({ method, params: fill(values), transactionIndex })),
      );
  }
  return { requests, leftOut };
}

/** The members of a transaction that a call takes. */
function callOf(transaction: unknown): unknown {
  const input = memberOf(transaction, "input");
  const members = { from: memberOf(transaction, "from"), to: memberOf(transaction, "to") };
  const call = {
    ...members,
    gas: memberOf(transaction, "gas"),
    value: memberOf(transaction, "value"),
    input,
  };
  return Object.fromEntries(Object.entries(call).filter(([, value]) => typeof value === "string"));
}

export function quantity(number: bigint): string {
  return `0x${number.toString(16)}`;
}
