import type { LocatedTransaction } from "../../chain/chainReader.ts";
import { decodeErrorText, isErrorText } from "../../execution/revertText.ts";
import { hexToBytes, toHex } from "../../primitives/hex.ts";
import { joinPieces } from "../../primitives/jsonPieces.ts";
import { RpcError } from "../errors/errors.ts";
import { REVERTED } from "../errors/simulationErrors.ts";
import type { ContextOf } from "../method.ts";

/**
 * The error of eth_sendTransaction for a transaction that a block has and that failed; undefined for one that did not. Its texts are
 * Hardhat's, its code and data those of a reverted call, which client libraries read.
 */
export async function failureOf(
  { receipt, block, index, transaction }: LocatedTransaction,
  context: ContextOf<"tracer">,
): Promise<RpcError | undefined> {
  if (!("status" in receipt.outcome) || receipt.outcome.status === 1) return undefined;
  const style = { kind: "otterscan", trace: "error" } as const;
  const at = { number: block.header.number };
  const traced = await context.backend.tracer.run({ kind: "debugBlock", block: at, index, style }, context);
  if (traced.kind !== "traced")
    return new RpcError(REVERTED, `Transaction ${toHex(transaction.hash)} failed in block ${at.number}`);
  // The tracer writes the bytes as JSON text.
  const data = String(JSON.parse(joinPieces(traced.pieces)));
  return new RpcError(REVERTED, textOf(hexToBytes(data)), data);
}

function textOf(data: Uint8Array): string {
  if (data.length === 0) return "Transaction reverted without a reason string";
  const text = isErrorText(data) ? decodeErrorText(data) : undefined;
  const reason =
    text === undefined
      ? `with an unrecognized custom error (return data: ${toHex(data)})`
      : `with reason string '${text}'`;
  return `VM Exception while processing transaction: reverted ${reason}`;
}
