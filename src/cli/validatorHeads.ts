import { bad, type ValueType } from "../config/valueTypes.ts";
import { type Address, asAddress } from "../primitives/address.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { asHash, type Hash } from "../primitives/hash.ts";
import { parseHex, toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { readAnswerText } from "./answerText.ts";

/** The newest block of one validator. */
export interface ValidatorHead {
  readonly validator: Address;
  readonly number: bigint;
  readonly hash: Hash;
}

/** A head as an operator writes it: 0xaddress=number:0xhash. */
export const validatorHeadType: ValueType<ValidatorHead> = {
  arity: "single",
  label: "<ADDRESS=NUMBER:HASH>",
  accepts: "a validator's address, its newest block's number and hash",
  read(text) {
    const parts = /^([^=]+)=(\d+):(.+)$/.exec(text);
    const [validator, hash] = [parseHex(parts?.[1] ?? ""), parseHex(parts?.[3] ?? "")];
    if (validator?.length !== 20 || hash?.length !== 32)
      return bad(`'${text}' is not of the form 0xaddress=number:0xhash`);
    return ok({
      validator: asAddress(validator),
      number: BigInt(parts?.[2] ?? ""),
      hash: asHash(hash),
    });
  },
  show: ({ validator, number, hash }) => `${toHex(validator)}=${number}:${toHex(hash)}`,
};

/**
 * Fetches a running validator's address (eth_coinbase, which on IBFT is the address of the node's key, as in Besu) and
 * its newest block over JSON-RPC. The error names the URL.
 */
export async function fetchHead(url: string): Promise<Result<ValidatorHead, "noHead">> {
  try {
    const validator = bytesOf(await callRpc(url, "eth_coinbase", []), 20);
    const block = await callRpc(url, "eth_getBlockByNumber", ["latest", false]);
    const { number, hash } = Object(block) as { readonly number?: unknown; readonly hash?: unknown };
    if (typeof number !== "string") throw new Error("its newest block has no number");
    return ok({
      validator: asAddress(validator),
      number: BigInt(number),
      hash: asHash(bytesOf(hash, 32)),
    });
  } catch (error) {
    const message = `${url} does not answer with its address and newest block (eth_coinbase, eth_getBlockByNumber): ${messageOf(error)}`;
    return fail("caller", "noHead", message);
  }
}

const REQUEST_TIMEOUT_MS = 10_000;
/** A block with 100,000 hashes of transactions has 7 MB. */
const ANSWER_BYTES = 32 * 1024 * 1024;

async function callRpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const text = await readAnswerText(response, ANSWER_BYTES);
  const { result, error } = Object(JSON.parse(text)) as {
    readonly result?: unknown;
    readonly error?: { readonly message?: unknown };
  };
  if (result === undefined || result === null)
    throw new Error(`${method}: ${error?.message ?? response.status}`);
  return result;
}

function bytesOf(value: unknown, length: number): Uint8Array {
  const bytes = typeof value === "string" ? parseHex(value) : undefined;
  if (bytes?.length !== length) throw new Error(`${length} bytes are expected`);
  return bytes;
}
